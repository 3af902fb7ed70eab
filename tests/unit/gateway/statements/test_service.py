"""Statements tied to what is on record, by local days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from gateway.banks.port.providers import Page
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.charges.model import ChargeState
from gateway.core.money import MAX_CENTAVOS, Money
from gateway.core.windows import Paging, Search, Window
from gateway.statements.model import LinkedStatement, StatementSearch, Sums
from gateway.statements.service import Statements
from tests.unit.charge_book import ChargeBook
from tests.unit.gateway.statements.linked_statements import PAYOUT, at, entry
from tests.unit.offering import staff
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON, TODAY
from tests.world.stores.charges import charge

DAY = timedelta(days=1)


def asking(days: int = 1, page: int = 1, limit: int = 25, **more: object) -> StatementSearch:
    window = Window(TODAY - (days - 1) * DAY, TODAY)
    return StatementSearch(search=Search(window, Paging(page, limit)), **more)  # type: ignore[arg-type]


def reading(entries: Sequence[Entry], book: ChargeBook | None = None) -> Statements:
    return at(OneBank(telling(entries)), book)


def telling(entries: Sequence[Entry]) -> ScriptedBank:
    return ScriptedBank(reads={"statement": {None: Page(items=tuple(entries), next_cursor=None)}})


async def read(
    entries: Sequence[Entry], wanted: StatementSearch | None = None, book: ChargeBook | None = None
) -> LinkedStatement:
    return await reading(entries, book).linked(staff(), account(), wanted or asking())


@pytest.mark.parametrize(
    ("moved", "tied", "unexplained"),
    [
        (entry("E-out"), True, False),
        (entry("E-else", provider_key="key-1"), True, False),
        (entry("E-else"), False, True),
        (entry(""), False, True),
        (entry("E-else", kind=MovementKind.PIX_RETURN), False, False),
        (entry("D" + "1" * 31, kind=MovementKind.OTHER), False, False),
        (entry("", kind=MovementKind.FEE, is_pix=False), False, False),
        (entry("", kind=MovementKind.BOLETO, is_pix=False), False, True),
        (entry("E-out", direction=Direction.CREDIT), False, False),
        (entry("E-x", direction=Direction.CREDIT, provider_key="key-1"), True, False),
    ],
    ids=[
        "by id",
        "by key",
        "not ours",
        "nameless",
        "refund",
        "return id",
        "fee",
        "boleto",
        "to us",
        "came back",
    ],
)
async def test_a_movement_is_linked_to_its_payout(moved: Entry, tied: bool, unexplained: bool):
    (found,) = (await read([moved])).entries

    assert (found.payout is PAYOUT, found.is_unexplained) == (tied, unexplained)


async def test_incoming_money_is_linked_to_its_charge():
    known = charge(state=ChargeState.PAID, e2e_id="E-in", account_id=ACCOUNT)
    book = ChargeBook(charges={(ACCOUNT, known.reference): known})

    found = await read([entry("E-in", direction=Direction.CREDIT), entry("E-in")], book=book)

    assert [each.charge for each in found.entries] == [known, None]


async def test_days_are_in_brasilia_time():
    """02:59 UTC belongs to the day before, 03:00 to the day."""
    midnight = datetime(2026, 11, 20, 3, tzinfo=UTC)
    moved = [
        entry("yesterday", created_at=midnight - timedelta(seconds=1)),
        entry("first", created_at=midnight),
        entry("last", created_at=midnight + DAY - timedelta(seconds=1)),
        entry("tomorrow", created_at=midnight + DAY),
    ]

    found = await read(moved)

    assert [each.entry.e2e_id for each in found.entries] == ["last", "first"]
    assert list(found.days) == [date(2026, 11, 20)]


async def test_ninety_local_days_are_read():
    """They touch 91 UTC days, more than one bank request may have."""
    found = await read([entry("E-out")], asking(days=90))

    assert found.total >= 1


async def test_sums_cover_the_window_and_day_sums_cover_the_filtered_movements():
    """So a day's header is the sum of its lines."""
    moved = [
        entry("E1", value=Money(100)),
        entry("E2", direction=Direction.CREDIT, value=Money(250), description="Cobrança"),
        entry("E3", value=Money(30), created_at=NOON - DAY),
    ]

    found = await read(moved, asking(days=2, direction=Direction.CREDIT))

    assert [each.entry.e2e_id for each in found.entries] == ["E2"]
    assert found.total == 1
    assert found.sums == Sums(came_in=250, went_out=130, credit_count=1, debit_count=2)
    assert found.days == {TODAY: Sums(came_in=250, credit_count=1)}
    by_text = await read(moved, asking(days=2, text="0,30"))
    assert by_text.days == {TODAY - DAY: Sums(went_out=30, debit_count=1)}
    assert by_text.chosen == Sums(went_out=30, debit_count=1)


@pytest.mark.parametrize(("text", "many"), [("maria", 2), ("COBRANÇA", 1), ("e9", 1), ("x", 0)])
async def test_a_text_search_ignores_case(text: str, many: int):
    moved = [entry("E9"), entry("E8", description="Cobrança")]

    assert (await read(moved, asking(text=text))).total == many


async def test_a_later_page_uses_the_earlier_read():
    moved = [
        entry(f"E{number}", created_at=NOON + timedelta(minutes=number)) for number in range(3)
    ]

    statements = reading(moved)

    first = await statements.linked(staff(), account(), asking(limit=2))
    second = await statements.linked(staff(), account(), asking(page=2, limit=2))

    assert [each.entry.e2e_id for each in first.entries] == ["E2", "E1"]
    assert [each.entry.e2e_id for each in second.entries] == ["E0"]
    assert (first.read_at, second.read_at) == (NOON, None)


@pytest.mark.parametrize("filtered", [{"text": "maria"}, {"direction": Direction.DEBIT}])
async def test_a_filter_applies_to_the_earlier_read(filtered: dict[str, object]):
    bank = telling([entry("E1"), entry("E2")])
    statements = at(OneBank(bank))

    await statements.linked(staff(), account(), asking())
    bank.reads |= telling([entry("E1"), entry("E2"), entry("E3")]).reads
    found = await statements.linked(staff(), account(), asking(**filtered))
    anew = await statements.linked(staff(), account(), asking())

    assert (found.total, found.read_at) == (2, None)
    assert (anew.total, anew.read_at) == (3, NOON)


async def test_sums_may_be_larger_than_an_amount():
    found = await read([entry("E1", value=Money(MAX_CENTAVOS)), entry("E2", value=Money(1))])

    assert found.sums.came_in + found.sums.went_out == MAX_CENTAVOS + 1
