"""Movements tied to what the bank lists, looked for, and between two balances."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Page, Unavailable
from gateway.banks.port.refunds import IncomingPayment
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.charges.model import ChargeState
from gateway.core.money import Money, Sum
from gateway.core.windows import LocalWindow, Paging, Search, Window
from gateway.statements.model import Bounds, StatementSearch
from tests.unit.charge_book import ChargeBook
from tests.unit.gateway.statements.linked_statements import PAYOUT, at, entry
from tests.unit.offering import OfferingBank, lessened, refund, staff
from tests.world.payouts import OneBank
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON, TODAY
from tests.world.stores.charges import charge

DAY = timedelta(days=1)
CREDIT = Direction.CREDIT
RETURN = refund().return_id


def came_in(e2e_id: str, reference: str = "") -> IncomingPayment:
    return IncomingPayment(
        reference=reference,
        e2e_id=e2e_id,
        provider_id="1",
        value=Money(100),
        refunded=Money(0),
        paid_at=NOON,
        payer=None,
    )


MOVED = (
    entry("E-out", value=Money(20_381)),
    entry("E-else"),
    entry("E-in", direction=CREDIT, description="", counterparty=entry().counterparty),
    entry("E-charge", direction=CREDIT, description=""),
    entry("E-ted", direction=CREDIT, is_pix=False, kind=MovementKind.TED),
    entry(RETURN, kind=MovementKind.PIX_RETURN),
    entry("", kind=MovementKind.FEE, is_pix=False, value=Money(990), description="Tarifa"),
)


def bank(*entries: Entry, **reads: object) -> OfferingBank:
    told = {
        "statement": {None: Page(items=entries or MOVED, next_cursor=None)},
        "list_received": [came_in("E-in"), came_in("E-other")],
        "list_refunds": [refund()],
    }
    return OfferingBank(reads={**told, **reads})


def asking(**more: object) -> StatementSearch:
    search = Search(Window(TODAY, TODAY), Paging(1, 25))
    return StatementSearch(search=search, **more)  # type: ignore[arg-type]


def book() -> ChargeBook:
    known = charge(
        state=ChargeState.PAID, e2e_id="E-charge", account_id=ACCOUNT, reference="Fatura-7"
    )
    return ChargeBook(charges={(ACCOUNT, known.reference): known})


async def found(told: OfferingBank, **wanted: object) -> list[str]:
    read = await at(OneBank(told), book()).linked(staff(), account(), asking(**wanted))
    assert read.total == len(read.entries)
    return [each.entry.e2e_id or each.entry.description for each in read.entries]


async def test_refunds_and_received_payments_are_linked_from_the_bank_s_lists():
    read = await at(OneBank(bank()), book()).linked(staff(), account(), asking())
    by_id = {each.entry.e2e_id: each for each in read.entries}

    received, given_back = by_id["E-in"].received, by_id[RETURN].refund
    assert received is not None
    assert received.e2e_id == "E-in"
    assert given_back is not None
    assert given_back.reference == "refund-1"
    assert by_id["E-charge"].received is None
    assert {name for name, each in by_id.items() if not each.is_tied} == {"E-else", "E-ted", ""}


async def test_unmatched_movements_can_be_listed_alone():
    assert set(await found(bank(), untied=True)) == {"E-else", "E-ted", "Tarifa"}


async def test_a_bank_without_lists_links_only_payouts_and_charges():
    without = bank()
    without.capabilities = lessened(PortCall.LIST_RECEIVED, PortCall.LIST_REFUNDS)

    assert set(await found(without, untied=True)) == {"E-else", "E-in", "E-ted", RETURN, "Tarifa"}


async def test_a_failed_list_links_nothing_and_fails_the_unlinked_list():
    failing = bank(list_received=Unavailable("timeout"))

    assert len(await found(failing)) == len(MOVED)
    with pytest.raises(Unavailable):
        await found(failing, untied=True)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        *(("203,81", {"E-out"}), ("9.90", {"Tarifa"}), ("tarifa", {"Tarifa"})),
        *((PAYOUT.reference.upper(), {"E-out"}), ("fatura-", {"E-charge"}), ("e-ELSE", {"E-else"})),
        *(("nobody", set()),),
    ],
)
async def test_a_movement_is_found_by_amount_reference_and_id(text: str, ids: set[str]):
    assert set(await found(bank(), text=text)) == ids


@pytest.mark.parametrize(
    ("days", "opening", "closing"),
    [(LocalWindow(TODAY, TODAY), 900, 1000), (LocalWindow(TODAY - DAY, TODAY - DAY), 870, 900)],
    ids=["until now", "of a day that is over"],
)
async def test_opening_and_closing_balances_follow_from_the_current_balance(
    days: LocalWindow, opening: int, closing: int
):
    moved = (
        entry("E1", direction=CREDIT, value=Money(150)),
        entry("E2", value=Money(50)),
        entry("E3", direction=CREDIT, value=Money(30), created_at=NOON - DAY),
    )
    now = Balance(balance=Money(1000), blocked=None, updated_at=None)
    statements, who = at(OneBank(bank(*moved, balance=now))), staff()
    wanted = StatementSearch(search=Search(days, Paging(1, 25)))
    told = await statements.linked(who, account(), wanted)

    held = await statements.bounds(who, account(), days, told, now)
    moving = replace_balance(now, 999)

    assert held == Bounds(opening=Sum(opening), closing=Sum(closing))
    assert await statements.bounds(who, account(), days, told, moving) is None


def replace_balance(before: Balance, centavos: int) -> Balance:
    return Balance(balance=Money(centavos), blocked=before.blocked, updated_at=before.updated_at)


async def test_days_long_past_have_no_balances():
    now = Balance(balance=Money(1000), blocked=None, updated_at=None)
    statements, who = at(OneBank(bank(balance=now))), staff()
    day = TODAY - 91 * DAY
    told = await statements.linked(who, account(), asking())

    assert await statements.bounds(who, account(), LocalWindow(day, day), told, now) is None
