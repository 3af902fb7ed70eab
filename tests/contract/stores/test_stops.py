"""Stops in the store: in force until they end or are lifted, and on record."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.domain.kernel.storage import AlreadyExists
from gateway.domain.payouts.stops import StopScope
from gateway.store.engine import Store
from tests.contract.stores.databases import both
from tests.world.stores.samples import NOW, event
from tests.world.stores.stops import END, STOP


@both
@pytest.mark.parametrize("scope", StopScope)
async def test_a_stop_is_read_back_whole(store: Store, scope: StopScope) -> None:
    stop = replace(STOP, scope=scope)

    await store.stops.add(stop, event())

    assert await store.stops.active(NOW) == [stop]


@pytest.mark.parametrize(
    ("at", "held"),
    [(NOW, True), (END - timedelta(microseconds=1), True), (END, False)],
)
async def test_a_stop_lets_go_at_its_end(store: Store, at: datetime, held: bool) -> None:
    await store.stops.add(STOP, event())

    assert bool(await store.stops.active(at)) is held


@both
async def test_another_process_sees_a_lifted_stop_no_more(store: Store, second: Store) -> None:
    await store.stops.add(STOP, event())

    lifted = await second.stops.lift(STOP.id, NOW, event("payouts.resumed"))

    assert lifted
    assert await store.stops.active(NOW) == []


@pytest.mark.parametrize("at", [NOW, END], ids=["lifted before", "ended"])
async def test_what_holds_no_more_is_not_lifted(store: Store, at: datetime) -> None:
    """And an act that did not happen is not on record."""
    await store.stops.add(STOP, event())
    if at == NOW:
        await store.stops.lift(STOP.id, NOW, event())
    before = await store.audit.verify()

    assert not await store.stops.lift(STOP.id, at, event())
    assert not await store.stops.lift("nothing", at, event())
    assert await store.audit.verify() == before


async def test_the_oldest_is_first(store: Store) -> None:
    newer = replace(STOP, id="b", created_at=NOW + timedelta(seconds=1))
    await store.stops.add(newer, event())
    await store.stops.add(STOP, event())

    assert await store.stops.active(NOW) == [STOP, newer]


@both
async def test_an_id_is_taken_once(store: Store) -> None:
    await store.stops.add(STOP, event())
    before = await store.audit.verify()

    with pytest.raises(AlreadyExists):
        await store.stops.add(replace(STOP, subject="other"), event())

    assert await store.stops.active(NOW) == [STOP]
    assert await store.audit.verify() == before


async def test_both_acts_are_on_record(store: Store) -> None:
    before = await store.audit.verify()

    await store.stops.add(STOP, event("payouts.stopped"))
    await store.stops.lift(STOP.id, NOW, event("payouts.resumed"))

    assert await store.audit.verify() == before + 2
