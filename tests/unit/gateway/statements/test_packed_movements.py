"""Many movements in little memory, and in their order."""

from __future__ import annotations

import gc
import tracemalloc
from datetime import timedelta

import msgspec
import pytest

from gateway.banks.port.statements import Entry
from gateway.core.money import Money
from gateway.statements.packed_movements import PackedMovements
from tests.unit.reporting import entry
from tests.world.standing import NOON


def told(number: int) -> Entry:
    """The movement of a bank's list that is so many seconds old."""
    at = NOON - timedelta(seconds=number, microseconds=number % 7)
    return entry(provider_id=f"mov-{number}", created_at=at, description=f"Pedido {number} ação")


def packed(*pages: list[Entry]) -> PackedMovements:
    made = PackedMovements()
    for page in pages:
        made.add(page)
    return made


@pytest.mark.parametrize("many", [1, 2, 3, 100])
def test_packed_movements_are_returned_oldest_first(many: int):
    every = [told(number) for number in range(7)]
    made = packed(every[:3], [], every[3:])

    groups = list(made.oldest_first(many))

    assert [each for group in groups for each in group] == every[::-1]
    assert {len(group) for group in groups[:-1]} <= {many}
    assert len(made) == 7


def test_movements_on_unordered_pages_are_sorted():
    every = [told(number) for number in range(6)]

    made = packed([every[4], every[0]], [every[5], every[1]], [every[3], every[2]])

    assert [each for (each,) in made.oldest_first(1)] == every[::-1]


def test_movements_of_one_instant_are_reversed():
    twins = [entry(provider_id="second"), entry(provider_id="first")]

    (group,) = packed(twins).oldest_first(9)

    assert [each.provider_id for each in group] == ["first", "second"]


def test_no_movements_unpack_to_an_empty_list():
    assert list(packed().oldest_first(9)) == []


def test_packed_movements_take_little_memory():
    gc.collect()
    tracemalloc.start()
    made = PackedMovements()
    for page in range(200):
        made.add([told(100 * page + row) for row in range(100)])
    count, last = 0, NOON - timedelta(days=9)
    for group in made.oldest_first(100):
        assert last <= group[0].created_at
        count, last = count + len(group), group[-1].created_at
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 20_000
    assert peak < 8 * 2**20


def test_every_field_of_a_movement_is_restored():
    one = entry(value=Money(1), provider_key="key")

    ((back,),) = packed([one]).oldest_first(1)

    assert msgspec.structs.asdict(back) == msgspec.structs.asdict(one)
