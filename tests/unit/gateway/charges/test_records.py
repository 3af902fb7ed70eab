"""The record of charges: never in the way of what a bank has done."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port.charges import ChargePayment, ChargeStatus
from gateway.banks.port.providers import (
    IN_USE,
    BadReply,
    NotFound,
    OutcomeUnknown,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.banks.port.refunds import IncomingPayment
from gateway.charges.model import ChargeSearch, ChargeState, SeenCharge
from gateway.charges.records import ChargeNotes
from gateway.charges.service import ChargeReads, Charges
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Keyset
from tests.unit.charge_book import ChargeBook, kept
from tests.unit.gateway.charges.orders import CHARGE, ORDER
from tests.unit.offering import Log, OfferingBank, staff
from tests.world.exports import exports
from tests.world.payouts import OneBank
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON, Clock

KEY = (ACCOUNT, ORDER.reference)


def orders(book: ChargeBook, said: object, log: Log | None = None) -> Charges:
    bank = OfferingBank(reads={"create_charge": said, "cancel_charge": said})
    return Charges(ChargeReads(OneBank(bank), kept(book)), log or Log(), exports())  # type: ignore[arg-type]


def seen(state: ChargeState, reference: str = "a", e2e_id: str = "") -> SeenCharge:
    return SeenCharge(account_id=ACCOUNT, reference=reference, state=state, at=NOON, e2e_id=e2e_id)


async def test_a_created_charge_is_recorded():
    book = ChargeBook()

    await orders(book, CHARGE).create(staff(), account(), ORDER)

    assert book.charges[KEY].state is ChargeState.ACTIVE
    assert book.charges[KEY].centavos == 1050


async def test_no_failure_of_the_store_fails_a_created_charge():
    """The bank has answered: the caller gets the charge, and the record is written later."""
    book = ChargeBook(away={"renew"})
    making = orders(book, CHARGE)

    made = await making.create(staff(), account(), ORDER)
    book.away.clear()
    await making.reads.kept.notes.run_once()

    assert made == CHARGE
    assert book.charges[KEY].state is ChargeState.UNKNOWN
    assert [each.state for each in book.noted] == [ChargeState.ACTIVE]


async def test_a_charge_without_a_record_is_not_created_at_the_bank():
    book = ChargeBook(away={"begin"})
    bank, log = OfferingBank(reads={"create_charge": CHARGE}), Log()

    with pytest.raises(StoreUnavailable):
        await Charges(ChargeReads(OneBank(bank), kept(book)), log, exports()).create(
            staff(), account(), ORDER
        )  # type: ignore[arg-type]

    assert (bank.asked, log.events) == ([], [])


@pytest.mark.parametrize(
    "problem", [Refused("refused"), Refused(IN_USE), Unreachable("refused"), NotFound("absent")]
)
async def test_a_charge_certainly_not_created_leaves_no_record(problem: Exception):
    book = ChargeBook()

    with pytest.raises(Exception):  # noqa: B017, PT011 - which one is told in test_orders
        await orders(book, problem).create(staff(), account(), ORDER)

    assert book.charges == {}


@pytest.mark.parametrize("problem", [Unavailable("timeout"), BadReply("x"), OutcomeUnknown("x")])
async def test_a_charge_that_may_exist_stays_unknown(problem: Exception):
    book = ChargeBook()

    with pytest.raises(type(problem)):
        await orders(book, problem).create(staff(), account(), ORDER)

    assert book.charges[KEY].state is ChargeState.UNKNOWN


async def test_an_order_that_is_not_audited_leaves_no_record():
    book = ChargeBook()

    with pytest.raises(StoreUnavailable):
        await orders(book, CHARGE, Log(fails_from=0)).create(staff(), account(), ORDER)

    assert book.charges == {}


async def test_a_refused_order_does_not_take_the_record_of_another():
    """The reference is used by a charge that we created earlier."""
    book = ChargeBook()
    making = orders(book, CHARGE)
    await making.create(staff(), account(), ORDER)

    again = orders(book, Refused(IN_USE))
    with pytest.raises(Exception):  # noqa: B017, PT011 - which one is told in test_orders
        await Charges(ChargeReads(again.reads.banks, making.reads.kept), Log(), exports()).create(
            staff(), account(), ORDER
        )

    assert book.charges[KEY].state is ChargeState.ACTIVE


@pytest.mark.parametrize("away", [set(), {"note"}])
async def test_a_cancellation_is_recorded_despite_a_failing_store(away: set[str]):
    book = ChargeBook(away=away)
    cancelled = replace(CHARGE, status=ChargeStatus.CANCELED)
    changing = orders(book, cancelled)

    assert await changing.cancel(staff(), account(), ORDER.reference) == cancelled
    book.away.clear()
    await changing.reads.kept.notes.run_once()

    assert [each.state for each in book.noted] == [ChargeState.CANCELED]


async def test_a_transaction_is_recorded_as_paid_or_unpaid():
    """An unpaid one may correct a charge that seemed paid."""
    book = ChargeBook()
    keeping = kept(book)
    pending = ChargePayment(
        reference="r", value=Money(2_500), created_at=None, paid_at=None, e2e_id="", payer=None
    )

    for each in (pending, replace(pending, paid_at=NOON, e2e_id="E1")):
        keeping.read(account(), each, NOON)
        await keeping.notes.run_once()

    told = [(each.state, each.e2e_id, each.paid) for each in book.noted]
    assert told == [(None, "", None), (ChargeState.PAID, "E1", Money(2_500))]


def received(e2e_id: str, centavos: int, reference: str = "r") -> IncomingPayment:
    return IncomingPayment(
        reference=reference,
        e2e_id=e2e_id,
        provider_id=e2e_id,
        value=Money(centavos),
        refunded=Money(0),
        paid_at=NOON,
        payer=None,
    )


async def test_every_listed_payment_of_a_charge_is_recorded_with_its_amount():
    """A smaller one does not prevent a later one from paying the charge."""
    book = ChargeBook()
    keeping = kept(book)

    listed = [received("E2", 1), received("E1", 10_000), received("E0", 5, reference="")]
    keeping.received(account(), listed, NOON)
    await keeping.notes.run_once()

    told = [(each.e2e_id, each.paid) for each in book.noted if each.is_listed]
    assert told == [("E2", Money(1)), ("E1", Money(10_000))]


async def test_after_a_listed_payment_the_charge_s_state_is_recorded_again():
    """The bank's unchanged answer then corrects the record."""
    book = ChargeBook()
    keeping = kept(book)

    for _ in range(2):
        keeping.read(account(), CHARGE, NOON)
        keeping.received(account(), [received("E1", 10_000, CHARGE.reference)], NOON)
        await keeping.notes.run_once()
        keeping.read(account(), CHARGE, NOON)
        await keeping.notes.run_once()

    states = [each.state for each in book.noted]
    assert states == [ChargeState.ACTIVE, ChargeState.PAID, ChargeState.ACTIVE]


async def test_repeated_answers_are_written_once_in_ten_minutes():
    """Partners poll, and the answer rarely changes."""
    book, clock = ChargeBook(), Clock()
    notes = ChargeNotes(book, clock.now)

    for _ in range(3):
        notes.take(seen(ChargeState.ACTIVE))
        await notes.run_once()
    assert len(book.noted) == 1

    clock.passes(timedelta(minutes=10).total_seconds())
    await notes.run_once()
    notes.take(seen(ChargeState.ACTIVE))
    await notes.run_once()
    assert len(book.noted) == 2


async def test_pending_answers_are_bounded_and_kept_while_the_store_is_unavailable():
    book = ChargeBook(away={"note"})
    notes = ChargeNotes(book, Clock().now, most=2)
    for reference in ("a", "b", "c"):
        notes.take(seen(ChargeState.ACTIVE, reference))

    with pytest.raises(StoreUnavailable):
        await notes.run_once()
    book.away.clear()

    assert await notes.run_once() == 2
    assert [each.reference for each in book.noted] == ["a", "b"]


@pytest.mark.parametrize(("later_s", "told"), [(-1, ChargeState.PAID), (1, ChargeState.ACTIVE)])
async def test_of_pending_answers_the_latest_read_is_recorded(later_s: int, told: ChargeState):
    book = ChargeBook()
    notes = ChargeNotes(book, Clock().now)

    notes.take(seen(ChargeState.PAID, e2e_id="E1"))
    at = NOON + timedelta(seconds=later_s)
    notes.take(replace(seen(ChargeState.ACTIVE), at=at))
    await notes.run_once()

    assert [each.state for each in book.noted] == [told]


async def test_a_page_of_charges_has_a_cursor_for_the_next():
    book = ChargeBook()
    making = kept(book)
    for number in range(3):
        await making.order("sandbox", account(), replace(ORDER, reference=str(number)))
    listing = orders(book, CHARGE)

    first = await listing.search(staff(), ChargeSearch(page=Keyset(2)))
    whole = await listing.search(staff(), ChargeSearch(page=Keyset(3)))

    assert [each.reference for each in first.charges] == ["0", "1"]
    assert first.next is not None
    assert first.next.id == "charge-1"
    assert whole.next is None


async def test_an_expiry_beyond_the_calendar_is_not_stored():
    record = await kept().order("sandbox", account(), replace(ORDER, expires_in=10**15))

    assert record.expires_at is None
