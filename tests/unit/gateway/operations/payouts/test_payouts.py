"""
Payouts: what a caller is answered, what is stored, what the bank is asked.

The rules that keep a payout from being paid twice or lost are in ``tests/payouts``.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs

from gateway.domain.accounts.credentials import CredentialLimits
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.providers import Accepted, NotFound, Outcome, Unreachable
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging, Search, Window
from gateway.domain.payouts.payouts import Failure, PayoutState
from gateway.domain.requests.calls import Caller
from gateway.store.engine import open_store
from gateway.telemetry import trace
from gateway.telemetry.records import AccessRecord, begin_record
from tests.contract.stores import samples
from tests.unit.paying import (
    ACCEPTED,
    ANSWERED,
    BAD,
    CAREFUL,
    DOUBT,
    FAILED,
    FORBIDDEN,
    IS_ACCEPTED,
    IS_FORBIDDEN,
    IS_NOT_SENT,
    IS_REJECTED,
    IS_SETTLED,
    IS_UNKNOWN,
    NOT_SENT,
    NOT_TODAY,
    OK,
    PAID,
    PIX,
    REJECTED,
    SENDING,
    SILENCE,
    UNKNOWN,
    UNSENT,
    Till,
    asking,
)
from tests.unit.people import ACCOUNT, CLIENT, COMPANY, SISTER, account, caller, principal
from tests.unit.standing import NOON, TODAY, Clock

TOMORROW = TODAY + timedelta(days=1)
YESTERDAY = TODAY - timedelta(days=1)
NO_FUNDS = Failure(FailureCode.INSUFFICIENT_FUNDS)
OVER_LIMIT = Failure(FailureCode.LIMIT_EXCEEDED, forbidden=True)

OUTCOMES = [
    (IS_ACCEPTED, OK, ACCEPTED, "accepted"),
    (IS_SETTLED, OK, PAID, "accepted"),
    (Accepted(evidence=ANSWERED), OK, ACCEPTED, "accepted"),
    (IS_REJECTED, BAD, REJECTED, "rejected"),
    (IS_FORBIDDEN, FORBIDDEN, REJECTED, "rejected"),
    (IS_NOT_SENT, UNSENT, NOT_SENT, "not_sent"),
    (IS_UNKNOWN, DOUBT, UNKNOWN, "unknown"),
    (replace(IS_SETTLED, value=Money(1051)), DOUBT, UNKNOWN, "unknown"),
    (replace(IS_SETTLED, value=Money(1)), DOUBT, UNKNOWN, "unknown"),
    (RuntimeError("a mistake"), DOUBT, UNKNOWN, "unknown"),
]


@pytest.mark.parametrize(
    ("said", "answer", "state", "told"), OUTCOMES, ids=lambda each: str(each)[:40]
)
async def test_a_new_payout_is_answered_by_its_outcome(
    till: Till, said: Outcome | Exception, answer: str, state: PayoutState, told: str
):
    record = AccessRecord(trace_id="trace-1")
    begin_record(record)
    till.bank.says = [said]

    answered = await till.post()

    assert (answered, (await till.row()).state, record.payout) == (answer, state, told)
    assert record.payout_method == "pix"
    assert len(till.bank.orders) == 1
    assert till.lost == []


async def test_what_is_stored_is_what_was_asked(till: Till):
    trace.begin("trace-7")

    await till.post()

    row = await till.row()
    assert (row.account_id, row.reference, row.client_id) == (ACCOUNT, "order-1", CLIENT)
    assert (row.value, row.date, row.description) == (Money(1050), TODAY, "pão")
    assert (row.destination, row.destination_sent) == (PIX, {"tax_number": "529.982.247-25"})
    assert (row.provider, row.provider_id, row.e2e_id) == ("sandbox", "p-1", "E1")
    assert (row.created_at, row.lease_until) == (NOON, NOON + timedelta(seconds=60))
    [attempt] = await till.attempts()
    assert (attempt.number, attempt.trace_id, attempt.evidence) == (1, "trace-7", ANSWERED)
    assert (attempt.send_deadline, attempt.ended_at) == (NOON + timedelta(seconds=20), NOON)


async def test_the_bank_is_asked_by_our_key_and_never_sees_the_reference(till: Till):
    await till.post()

    [order] = till.bank.orders
    assert order.provider_key == (await till.row()).provider_key
    assert (order.value, order.destination, order.description) == (Money(1050), PIX, "pão")
    assert "order-1" not in repr(order)


async def test_the_caller_gets_the_bank_s_ids(till: Till):
    payout = await till.payouts.create(caller(), asking())

    assert (payout.provider_id, payout.e2e_id) == ("p-1", "E1")


@pytest.mark.parametrize(("said", "failure"), [(IS_REJECTED, NO_FUNDS), (IS_FORBIDDEN, OVER_LIMIT)])
async def test_a_rejection_is_stored_with_its_reason_in_our_words(
    till: Till, said: Outcome, failure: Failure
):
    till.bank.says = [said]

    with pytest.raises(ServiceError) as refusal:
        await till.payouts.create(caller(), asking())

    assert (await till.row()).failure == failure
    assert refusal.value.reason == failure.code.lower()


async def test_money_that_arrived_at_once_is_paid_now(till: Till):
    """Some banks settle while they are asked; where they give no time, it is ours."""
    then = NOON - timedelta(seconds=1)
    till.bank.says = [replace(IS_SETTLED, settled_at=then), IS_SETTLED]

    await till.post()
    await till.post(asking("order-2"))

    assert (await till.row()).settled_at == then
    assert (await till.row("order-2")).settled_at == NOON


@pytest.mark.parametrize("day", [YESTERDAY, TOMORROW])
async def test_a_new_payout_of_another_day_leaves_nothing_behind(till: Till, day):
    assert await till.post(asking(day=day)) == NOT_TODAY
    assert not await till.has_row()
    assert till.bank.orders == []


async def test_today_is_a_day_in_utc(till: Till, clock: Clock):
    clock.passes(12 * 3600 - 1)
    assert await till.post() == OK

    clock.passes(1)

    assert await till.post(asking("order-2")) == NOT_TODAY
    assert await till.post(asking("order-2", day=TOMORROW)) == OK


@pytest.mark.parametrize(
    ("there", "read_only", "answer"),
    [
        (False, False, "422 SVC.ACC.005"),
        (False, True, "422 SVC.ACC.005"),
        (True, True, "403 SVC.ACC.005"),
    ],
)
async def test_without_a_bank_that_pays_out_nothing_is_stored(
    till: Till, there: bool, read_only: bool, answer: str
):
    till.banks.is_there, till.banks.read_only = there, read_only

    assert await till.post() == answer
    assert not await till.has_row()


async def test_an_account_without_the_credentials_its_bank_asks_for_is_certain(till: Till):
    """The bank would refuse, and nobody would know what became of the money."""
    till.bank.capabilities = replace(CAREFUL, account_credentials=True)

    assert await till.post() == "422 SVC.ACC.005"
    assert not await till.has_row()
    assert till.bank.orders == []


async def test_the_date_is_looked_at_before_the_bank(till: Till):
    till.banks.is_there = False

    assert await till.post(asking(day=TOMORROW)) == NOT_TODAY


# What a repeat is answered by, for each state it may meet.
REPEATS = [
    (UNKNOWN, {}, OK),
    (ACCEPTED, {}, OK),
    (PAID, {"settled_at": NOON}, OK),
    (REJECTED, {"failure": NO_FUNDS}, BAD),
    (REJECTED, {"failure": OVER_LIMIT}, FORBIDDEN),
    (FAILED, {"failure": Failure(FailureCode.RETURNED)}, BAD),
    (FAILED, {"failure": OVER_LIMIT}, FORBIDDEN),
    (FAILED, {}, BAD),
]


@pytest.mark.parametrize("day", [TODAY, YESTERDAY, TOMORROW], ids=["today", "before", "after"])
@pytest.mark.parametrize(("state", "step", "answer"), REPEATS, ids=str)
async def test_a_repeat_is_answered_from_the_store_whatever_the_date(
    till: Till, state: PayoutState, step: dict[str, object], answer: str, day
):
    before = await till.stands(state, **step)
    record = AccessRecord(trace_id="")
    begin_record(record)

    answered = await till.post(asking(day=day))

    assert answered == answer
    assert await till.row() == before
    assert (till.bank.orders, record.payout) == ([], "duplicate")


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED, PAID, REJECTED, FAILED])
@pytest.mark.parametrize("lost", ["is_there", "read_only"])
async def test_a_repeat_does_not_need_the_bank(till: Till, state: PayoutState, lost: str):
    await till.stands(state)
    setattr(till.banks, lost, lost == "read_only")

    assert await till.post() in {OK, BAD}
    assert (till.bank.orders, till.bank.lookups) == ([], [])


@pytest.mark.parametrize(
    ("said", "answer", "state", "told"), OUTCOMES, ids=lambda each: str(each)[:40]
)
async def test_what_was_proven_unsent_is_sent_once_more(
    till: Till, said: Outcome | Exception, answer: str, state: PayoutState, told: str
):
    await till.stands(NOT_SENT)
    till.bank.says = [said]

    answered = await till.post()

    row = await till.row()
    assert (answered, row.state, row.attempt) == (answer, state, 2)
    assert [each.number for each in await till.attempts()] == [1, 2]
    assert [each.outcome for each in await till.attempts()] == [NOT_SENT, state]
    assert [order.provider_key for order in till.bank.orders] == [row.provider_key]


@pytest.mark.parametrize("day", [TODAY, TOMORROW], ids=["its own date", "the new date"])
@pytest.mark.parametrize("read_first", [True, False])
async def test_on_the_next_day_it_is_over_whoever_comes_first(
    till: Till, clock: Clock, day: date, read_first: bool
):
    """It fails with NOT_SENT, read or repeated, with either date; nothing is sent."""
    await till.stands(NOT_SENT)
    clock.passes(12 * 3600)
    if read_first:
        await till.look()

    assert [await till.post(asking(day=day)) for _ in range(2)] == [BAD, BAD]
    row = await till.row()
    assert (row.state, row.failure) == (FAILED, Failure(FailureCode.NOT_SENT))
    assert (row.date, till.bank.orders) == (TODAY, [])


async def test_until_midnight_it_is_for_its_own_date(till: Till, clock: Clock):
    await till.stands(NOT_SENT)
    clock.passes(12 * 3600 - 1)

    assert await till.post(asking(day=TOMORROW)) == NOT_TODAY
    assert (await till.row()).state is NOT_SENT
    assert await till.post(asking(day=TODAY)) == OK


@pytest.mark.parametrize("day", [TODAY, TOMORROW], ids=["its own date", "the new date"])
async def test_midnight_may_pass_between_two_looks_at_the_clock(
    till: Till, clock: Clock, day: date
):
    """The day is not over when the row is looked at, and is when the date is."""
    await till.stands(NOT_SENT)
    clock.passes(12 * 3600 - 1)

    def now() -> datetime:
        clock.passes(1)
        return clock.at

    till.payouts = replace(till.payouts, terms=replace(till.payouts.terms, now=now))

    assert await till.post(asking(day=day)) == (NOT_TODAY if day == TODAY else BAD)
    assert till.bank.orders == []
    assert await till.post(asking(day=day)) == BAD


async def test_after_a_restore_the_bank_is_asked_before_its_day_ends(till: Till, clock: Clock):
    """A backup may have forgotten an attempt; until the bank has told, it is not refused."""
    await till.stands(NOT_SENT)
    doubtful = replace(till.follow_up, look_first=True)
    till.payouts = replace(till.payouts, follow_up=doubtful)
    clock.passes(12 * 3600)

    assert await till.post(asking(day=TOMORROW)) == OK
    assert ((await till.row()).state, till.bank.orders) == (UNKNOWN, [])


async def test_it_needs_a_bank_that_pays_out_today(till: Till):
    before = await till.stands(NOT_SENT)

    till.banks.is_there = False
    assert await till.post() == "422 SVC.ACC.005"
    till.banks.is_there, till.banks.read_only = True, True
    assert await till.post() == "403 SVC.ACC.005"
    assert await till.row() == before


async def test_the_bank_of_today_gets_it_where_the_account_moved(till: Till):
    await till.stands(NOT_SENT)
    till.banks.name = "other-bank"

    payout = await till.payouts.create(caller(), asking())

    assert payout.provider == "other-bank"
    assert (await till.row()).provider == "other-bank"
    assert [each.provider for each in await till.attempts()] == ["sandbox", "other-bank"]


async def test_a_sister_account_has_references_of_its_own(till: Till):
    await till.post()

    sister = structs.replace(caller(), account=account(SISTER))

    assert await till.post(asking(value=Money(5)), sister) == OK
    one, other = till.bank.orders
    assert one.provider_key != other.provider_key


@pytest.mark.parametrize("bearer", ["cli_second", CLIENT])
async def test_any_credential_of_the_account_may_repeat(till: Till, bearer: str):
    await till.post()

    again = structs.replace(caller(), principal=structs.replace(principal(), client_id=bearer))

    assert await till.post(who=again) == OK
    assert (await till.row()).client_id == CLIENT


@pytest.mark.parametrize("reference", ["Order-1", "order-1 ", "e\u0301", "\u00e9"])
async def test_references_are_compared_as_they_stand(till: Till, reference: str):
    await till.post(asking("order-1"))
    await till.post(asking("\u00e9" if reference != "\u00e9" else "e\u0301"))

    await till.post(asking(reference, value=Money(5)))

    assert len(till.bank.orders) == 3


# Reading


async def test_nothing_stored_is_not_found(till: Till):
    with pytest.raises(ServiceError) as refusal:
        await till.payouts.read(caller(), "order-1")
    assert refusal.value.error is errors.PAYOUT_NOT_FOUND


async def test_a_payout_of_a_sister_account_is_not_found(till: Till):
    await till.stands(PAID)

    with pytest.raises(ServiceError):
        await till.payouts.read(structs.replace(caller(), account=account(SISTER)), "order-1")


@pytest.mark.parametrize("state", PayoutState)
async def test_every_state_can_be_read_while_the_bank_is_away(till: Till, state: PayoutState):
    """A provider's failure is no error here."""
    await till.stands(state)
    till.bank.knows = Unreachable("refused")

    assert (await till.payouts.read(caller(), "order-1")).state is state


async def test_reading_an_unsettled_one_looks_once(till: Till):
    await till.stands(ACCEPTED, provider_id="p-1")
    till.bank.knows = IS_SETTLED

    payout = await till.payouts.read(caller(), "order-1")
    again = await till.payouts.read(caller(), "order-1")

    assert (payout.state, again) == (PAID, payout)
    assert till.bank.lookups == [(payout.provider_key, "p-1")]


async def test_a_list_never_asks_the_bank(till: Till, clock: Clock):
    for number in range(3):
        await till.post(asking(f"order-{number}"))
        clock.passes(1)
    search = Search(Window(TODAY, TODAY), Paging(1, 2))

    page = await till.payouts.search(caller(), search)

    assert [each.reference for each in page.payouts] == ["order-2", "order-1"]
    assert (page.total, page.paging) == (3, Paging(1, 2))
    assert till.bank.lookups == []


async def test_cancelling_is_refused_without_a_look(till: Till):
    with pytest.raises(ServiceError) as refusal:
        await till.payouts.cancel(caller(), None)
    assert refusal.value.error is errors.CANCEL_NOT_IMPLEMENTED


async def test_a_look_at_a_payout_nobody_knows_changes_nothing(till: Till):
    before = await till.stands(UNKNOWN, evidence=SILENCE)
    till.bank.knows = NotFound("absent")

    assert await till.payouts.read(caller(), "order-1") == before
    assert (await till.row()).state is not SENDING


async def test_a_payout_above_a_limit_of_its_credential_is_refused_and_nothing_is_sent(
    till: Till, tmp_path: Path
):
    """Step 20 of the order of checks: behind the replay, before the intent; 403."""
    limits = CredentialLimits(per_day=Money(1050))
    made = samples.credential(CLIENT)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    await store.credentials.add(replace(made, company_id=COMPANY, limits=limits), samples.event())
    await store.close()
    who = Caller(structs.replace(principal(), limits=limits), account())

    first = await till.post(who=who)
    replay = await till.post(who=who)
    above = await till.post(asking("order-2", value=Money(1)), who)

    assert (first, replay, above) == (OK, OK, "403 SVC.GTW.010")
    assert len(till.bank.orders) == 1
    assert await till.store.find(ACCOUNT, "order-2") is None
