"""
Payouts: what a caller is answered, what is stored, what the bank is asked.

The rules that keep a payout from being paid twice or lost are in ``tests/payouts``.
"""

import asyncio
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from msgspec import structs

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import Accepted, Outcome
from gateway.core import trace
from gateway.core.calls import Caller
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from gateway.core.windows import Paging, Search, Window
from gateway.payouts.model import Failure, PayoutState
from gateway.telemetry.records import AccessRecord, begin_record
from tests.world.payouts import (
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
    UNKNOWN,
    UNSENT,
    PayoutWorld,
    asking,
)
from tests.world.people import ACCOUNT, CLIENT, COMPANY, account, caller, principal
from tests.world.standing import NOON, TODAY, Clock
from tests.world.store import open_store
from tests.world.stores import samples
from tests.world.waiting import until

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
async def test_a_new_payout_is_answered_according_to_its_outcome(
    payout_world: PayoutWorld, said: Outcome | Exception, answer: str, state: PayoutState, told: str
):
    record = AccessRecord(trace_id="trace-1")
    begin_record(record)
    payout_world.bank.says = [said]

    answered = await payout_world.post()

    assert (answered, (await payout_world.row()).state, record.payout) == (answer, state, told)
    assert record.payout_method == "pix"
    assert len(payout_world.bank.orders) == 1
    assert payout_world.lost == []


async def test_fail_points_are_before_and_after_each_commit(payout_world: PayoutWorld):
    passed: list[str] = []
    payout_world.build(failpoint=passed.append)
    payout_world.store.on_call = passed.append

    async def sent(_order: PayoutOrder) -> None:
        passed.append("bank")

    payout_world.bank.on_order = sent
    commits = [*("after_insert", "bank"), *("before_record", "record", "after_record")]

    payout_world.bank.says = [IS_NOT_SENT]
    await payout_world.post()
    assert passed == ["find", "before_insert", "add", *commits]

    passed.clear()
    await payout_world.post()
    assert passed == ["find", "before_insert", "claim", *commits]


@pytest.mark.parametrize("step", ["add", "claim"])
async def test_a_losing_request_reaches_no_fail_point_after_its_insert(
    payout_world: PayoutWorld, step: str
):
    if step == "claim":
        await payout_world.stands(NOT_SENT)
    passed: list[str] = []
    loser = payout_world.beside()
    loser.build(failpoint=passed.append)
    loser.store.held = {step: asyncio.Event()}
    loser.store.on_call = passed.append
    posting = asyncio.ensure_future(loser.post())
    await until(lambda: step in passed)
    await payout_world.post()

    loser.store.held[step].set()

    assert await posting == OK
    assert passed[:3] == ["find", "before_insert", step]
    assert not {"after_insert", "before_record"} & set(passed)


async def test_the_stored_payout_equals_the_request(payout_world: PayoutWorld):
    trace.begin("trace-7")

    await payout_world.post()

    row = await payout_world.row()
    assert (row.account_id, row.reference, row.client_id) == (ACCOUNT, "order-1", CLIENT)
    assert (row.value, row.date, row.description) == (Money(1050), TODAY, "pão")
    assert (row.destination, row.destination_sent) == (PIX, {"tax_number": "529.982.247-25"})
    assert (row.provider, row.provider_id, row.e2e_id) == ("sandbox", "p-1", "E1")
    assert (row.created_at, row.lease_until) == (NOON, NOON + timedelta(seconds=60))
    [attempt] = await payout_world.attempts()
    assert (attempt.number, attempt.trace_id, attempt.evidence) == (1, "trace-7", ANSWERED)
    assert (attempt.send_deadline, attempt.ended_at) == (NOON + timedelta(seconds=20), NOON)


async def test_the_bank_gets_our_key_and_never_the_reference(payout_world: PayoutWorld):
    await payout_world.post()

    [order] = payout_world.bank.orders
    assert order.provider_key == (await payout_world.row()).provider_key
    assert (order.value, order.destination, order.description) == (Money(1050), PIX, "pão")
    assert "order-1" not in repr(order)


@pytest.mark.parametrize(("said", "failure"), [(IS_REJECTED, NO_FUNDS), (IS_FORBIDDEN, OVER_LIMIT)])
async def test_a_rejection_is_stored_with_our_failure_code(
    payout_world: PayoutWorld, said: Outcome, failure: Failure
):
    payout_world.bank.says = [said]

    with pytest.raises(ServiceError) as refusal:
        await payout_world.payouts.create(caller(), asking())

    assert (await payout_world.row()).failure == failure
    assert refusal.value.reason == failure.code.lower()


async def test_a_payout_settled_at_once_has_the_bank_s_time_or_ours(payout_world: PayoutWorld):
    """Some banks settle during the call; without their time it is ours."""
    then = NOON - timedelta(seconds=1)
    payout_world.bank.says = [replace(IS_SETTLED, settled_at=then), IS_SETTLED]

    await payout_world.post()
    await payout_world.post(asking("order-2"))

    assert (await payout_world.row()).settled_at == then
    assert (await payout_world.row("order-2")).settled_at == NOON


@pytest.mark.parametrize("day", [YESTERDAY, TOMORROW])
async def test_a_new_payout_for_another_day_is_refused_and_not_stored(
    payout_world: PayoutWorld, day
):
    assert await payout_world.post(asking(day=day)) == NOT_TODAY
    assert not await payout_world.has_row()
    assert payout_world.bank.orders == []


async def test_today_is_a_utc_date(payout_world: PayoutWorld, clock: Clock):
    clock.passes(12 * 3600 - 1)
    assert await payout_world.post() == OK

    clock.passes(1)

    assert await payout_world.post(asking("order-2")) == NOT_TODAY
    assert await payout_world.post(asking("order-2", day=TOMORROW)) == OK


@pytest.mark.parametrize(
    ("there", "read_only", "answer"),
    [
        (False, False, "422 SVC.ACC.005"),
        (False, True, "422 SVC.ACC.005"),
        (True, True, "403 SVC.ACC.005"),
    ],
)
async def test_without_a_paying_bank_nothing_is_stored(
    payout_world: PayoutWorld, there: bool, read_only: bool, answer: str
):
    payout_world.banks.is_there, payout_world.banks.read_only = there, read_only

    assert await payout_world.post() == answer
    assert not await payout_world.has_row()


async def test_an_account_without_required_credentials_is_refused_before_the_bank(
    payout_world: PayoutWorld,
):
    """The bank would refuse, and the outcome would be unknown."""
    payout_world.bank.capabilities = replace(CAREFUL, account_credentials=True)

    assert await payout_world.post() == "422 SVC.ACC.005"
    assert not await payout_world.has_row()
    assert payout_world.bank.orders == []


HOUR = timedelta(minutes=60)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (NOON + timedelta(minutes=5), NOON + timedelta(minutes=5)),
        (NOON + HOUR, NOON + HOUR),
        (NOON + 24 * HOUR, NOON + HOUR),
        (NOON - HOUR, NOON - HOUR),
        (NOON.replace(tzinfo=None), None),
        (None, None),
    ],
    ids=str,
)
async def test_a_payout_held_by_the_bank_is_accepted_with_a_deadline_of_at_most_an_hour(
    payout_world: PayoutWorld, told: datetime | None, kept: datetime | None
):
    """A Pix may be analysed for at most an hour, so that nothing stays hidden for ever."""
    payout_world.bank.says = [replace(IS_ACCEPTED, held_until=told)]

    assert await payout_world.post() == OK

    row = await payout_world.row()
    assert (row.state, row.held_until) == (ACCEPTED, kept)


LETTERS = replace(PIX, tax_number="12ABC34501DE35")


@pytest.mark.parametrize("day", [TODAY, TOMORROW])
async def test_a_cnpj_with_letters_is_refused_before_the_date_and_nothing_is_stored(
    payout_world: PayoutWorld, day: date
):
    payout_world.bank.capabilities = replace(CAREFUL, alphanumeric_cnpj=False)

    answer = await payout_world.post(replace(asking(day=day), destination=LETTERS))

    assert answer == "400 SVC.VAL.011"
    assert not await payout_world.has_row()


async def test_a_repeat_is_answered_although_the_bank_would_refuse_it_now(
    payout_world: PayoutWorld,
):
    """A changed configuration must not make an existing payout look refused."""
    asked = replace(asking(), destination=LETTERS)
    await payout_world.post(asked)
    payout_world.bank.capabilities = replace(CAREFUL, alphanumeric_cnpj=False)

    assert await payout_world.post(asked) == OK


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
async def test_a_repeat_with_any_date_is_answered_from_the_store(
    payout_world: PayoutWorld, state: PayoutState, step: dict[str, object], answer: str, day
):
    before = await payout_world.stands(state, **step)
    record = AccessRecord(trace_id="")
    begin_record(record)

    answered = await payout_world.post(asking(day=day))

    assert answered == answer
    assert await payout_world.row() == before
    assert (payout_world.bank.orders, record.payout) == ([], "duplicate")


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED, PAID, REJECTED, FAILED])
@pytest.mark.parametrize("lost", ["is_there", "read_only"])
async def test_a_repeat_is_answered_without_a_bank(
    payout_world: PayoutWorld, state: PayoutState, lost: str
):
    await payout_world.stands(state)
    setattr(payout_world.banks, lost, lost == "read_only")

    assert await payout_world.post() in {OK, BAD}
    assert (payout_world.bank.orders, payout_world.bank.lookups) == ([], [])


@pytest.mark.parametrize(
    ("said", "answer", "state", "told"), OUTCOMES, ids=lambda each: str(each)[:40]
)
async def test_repeating_an_unsent_payout_sends_it_once_more(
    payout_world: PayoutWorld, said: Outcome | Exception, answer: str, state: PayoutState, told: str
):
    await payout_world.stands(NOT_SENT)
    payout_world.bank.says = [said]

    answered = await payout_world.post()

    row = await payout_world.row()
    assert (answered, row.state, row.attempt) == (answer, state, 2)
    assert [each.number for each in await payout_world.attempts()] == [1, 2]
    assert [each.outcome for each in await payout_world.attempts()] == [NOT_SENT, state]
    assert [order.provider_key for order in payout_world.bank.orders] == [row.provider_key]


@pytest.mark.parametrize("day", [TODAY, TOMORROW], ids=["its own date", "the new date"])
@pytest.mark.parametrize("read_first", [True, False])
async def test_an_unsent_payout_fails_on_the_next_day(
    payout_world: PayoutWorld, clock: Clock, day: date, read_first: bool
):
    """With NOT_SENT, when read or repeated with either date; nothing is sent."""
    await payout_world.stands(NOT_SENT)
    clock.passes(12 * 3600)
    if read_first:
        await payout_world.look()

    assert [await payout_world.post(asking(day=day)) for _ in range(2)] == [BAD, BAD]
    row = await payout_world.row()
    assert (row.state, row.failure) == (FAILED, Failure(FailureCode.NOT_SENT))
    assert (row.date, payout_world.bank.orders) == (TODAY, [])


async def test_an_unsent_payout_can_be_repeated_until_midnight_with_its_own_date(
    payout_world: PayoutWorld, clock: Clock
):
    await payout_world.stands(NOT_SENT)
    clock.passes(12 * 3600 - 1)

    assert await payout_world.post(asking(day=TOMORROW)) == NOT_TODAY
    assert (await payout_world.row()).state is NOT_SENT
    assert await payout_world.post(asking(day=TODAY)) == OK


@pytest.mark.parametrize("day", [TODAY, TOMORROW], ids=["its own date", "the new date"])
async def test_a_repeat_across_midnight_sends_nothing(
    payout_world: PayoutWorld, clock: Clock, day: date
):
    """The day ends between reading the row and checking the date."""
    await payout_world.stands(NOT_SENT)
    clock.passes(12 * 3600 - 1)

    def now() -> datetime:
        clock.passes(1)
        return clock.at

    payout_world.payouts = replace(
        payout_world.payouts, config=replace(payout_world.payouts.config, now=now)
    )

    assert await payout_world.post(asking(day=day)) == (NOT_TODAY if day == TODAY else BAD)
    assert payout_world.bank.orders == []
    assert await payout_world.post(asking(day=day)) == BAD


async def test_after_a_restore_the_bank_is_queried_before_its_day_ends(
    payout_world: PayoutWorld, clock: Clock
):
    """A backup may lack an attempt; it is not refused before the bank has answered."""
    await payout_world.stands(NOT_SENT)
    doubtful = replace(payout_world.follow_up, look_first=True)
    payout_world.payouts = replace(payout_world.payouts, follow_up=doubtful)
    clock.passes(12 * 3600)

    assert await payout_world.post(asking(day=TOMORROW)) == OK
    assert ((await payout_world.row()).state, payout_world.bank.orders) == (UNKNOWN, [])


async def test_repeating_an_unsent_payout_needs_a_paying_bank(payout_world: PayoutWorld):
    before = await payout_world.stands(NOT_SENT)

    payout_world.banks.is_there = False
    assert await payout_world.post() == "422 SVC.ACC.005"
    payout_world.banks.is_there, payout_world.banks.read_only = True, True
    assert await payout_world.post() == "403 SVC.ACC.005"
    assert await payout_world.row() == before


async def test_an_unsent_payout_is_repeated_at_the_account_s_present_bank(
    payout_world: PayoutWorld,
):
    await payout_world.stands(NOT_SENT)
    payout_world.banks.name = "other-bank"
    moved = structs.replace(caller(), account=replace(account(), provider_account="conta-2"))

    payout = await payout_world.payouts.create(moved, asking())

    assert (payout.provider, payout.provider_account) == ("other-bank", "conta-2")
    row = await payout_world.row()
    assert (row.provider, row.provider_account) == ("other-bank", "conta-2")
    assert [each.provider for each in await payout_world.attempts()] == ["sandbox", "other-bank"]


@pytest.mark.parametrize("bearer", ["cli_second", CLIENT])
async def test_any_credential_of_the_account_may_repeat_a_payout(
    payout_world: PayoutWorld, bearer: str
):
    await payout_world.post()

    again = structs.replace(caller(), principal=structs.replace(principal(), client_id=bearer))

    assert await payout_world.post(who=again) == OK
    assert (await payout_world.row()).client_id == CLIENT


# Reading


async def test_reading_an_unsettled_payout_queries_the_bank_once(payout_world: PayoutWorld):
    await payout_world.stands(ACCEPTED, provider_id="p-1")
    payout_world.bank.knows = IS_SETTLED

    payout = await payout_world.payouts.read(caller(), "order-1")
    again = await payout_world.payouts.read(caller(), "order-1")

    assert (payout.state, again) == (PAID, payout)
    assert payout_world.bank.lookups == [(payout.provider_key, "p-1")]


async def test_a_list_never_queries_the_bank(payout_world: PayoutWorld, clock: Clock):
    for number in range(3):
        await payout_world.post(asking(f"order-{number}"))
        clock.passes(1)
    search = Search(Window(TODAY, TODAY), Paging(1, 2))

    page = await payout_world.payouts.search(caller(), search)

    assert [each.reference for each in page.items] == ["order-2", "order-1"]
    assert (page.total, page.paging) == (3, Paging(1, 2))
    assert payout_world.bank.lookups == []


async def test_a_payout_above_a_limit_of_its_credential_is_refused_and_nothing_is_sent(
    payout_world: PayoutWorld, tmp_path: Path
):
    """Step 20 of the order of checks: after repeats, before the intent; 403."""
    limits = CredentialLimits(per_day=Money(1050))
    made = samples.credential(CLIENT)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    await store.credentials.add(replace(made, company_id=COMPANY, limits=limits), samples.event())
    await store.close()
    who = Caller(structs.replace(principal(), limits=limits), account())

    first = await payout_world.post(who=who)
    replay = await payout_world.post(who=who)
    above = await payout_world.post(asking("order-2", value=Money(1)), who)

    assert (first, replay, above) == (OK, OK, "403 SVC.GTW.010")
    assert len(payout_world.bank.orders) == 1
    assert await payout_world.store.find(ACCOUNT, "order-2") is None
