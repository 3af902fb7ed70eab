"""
Never twice, never lost: the rules of the payout protocol, each with what breaks without it.

They were found by exploring every order of events; none of them is a matter of taste.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.bank import providers
from gateway.domain.bank.payout_orders import PayoutMethod, PayoutOrder
from gateway.domain.bank.providers import Accepted, NotFound, Outcome, Rejected, Settled
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import PayoutRequest, PayoutState
from tests.unit.paying import (
    ACCEPTED,
    ANSWERED,
    BAD,
    DOUBT,
    FAILED,
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
    UNKNOWN,
    UNSENT,
    Till,
    asking,
)
from tests.unit.standing import TODAY, Clock

TOMORROW = TODAY + timedelta(days=1)
IDS = {"ids": lambda each: str(each)[:40]}


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    """Let others run until something holds."""
    async with asyncio.timeout(5):
        while True:
            done = holds()
            if done if isinstance(done, bool) else await done:
                return
            await asyncio.sleep(0.001)


async def test_r1_the_intent_is_stored_before_the_bank_is_asked(till: Till):
    """Without it a crash leaves money without a record, and the retry pays twice."""
    seen: list[tuple[PayoutState, int]] = []

    async def look(_order: PayoutOrder) -> None:
        row = await till.beside().row()
        seen.append((row.state, row.attempt))

    till.bank.on_order = look

    await till.post()

    assert seen == [(SENDING, 1)]


async def test_r1_holds_for_the_next_attempt_too(till: Till):
    await till.stands(NOT_SENT)
    seen: list[tuple[PayoutState, int]] = []

    async def look(_order: PayoutOrder) -> None:
        row = await till.beside().row()
        seen.append((row.state, row.attempt))

    till.bank.on_order = look

    await till.post()

    assert seen == [(SENDING, 2)]


@pytest.mark.parametrize("state", [None, NOT_SENT], ids=["new", "unsent"])
async def test_r2_of_those_that_saw_no_obstacle_one_sends(till: Till, state: PayoutState | None):
    """All read before any writes: only the atomic step decides."""
    if state:
        await till.stands(state)
    nodes = [till.beside() for _ in range(4)]
    arrived: list[str] = []
    step = "claim" if state else "add"
    for node in nodes:
        node.store.held = {step: asyncio.Event()}
        node.store.on_call = arrived.append
    posting = [asyncio.ensure_future(node.post()) for node in nodes]
    await until(lambda: arrived.count(step) == 4)

    for node in nodes:
        node.store.held[step].set()

    assert await asyncio.gather(*posting) == [OK] * 4
    assert len(till.bank.orders) == 1
    assert sum(len(node.lost) for node in nodes) == (3 if state else 0)


@pytest.mark.parametrize("days", [0, 1, 400])
async def test_r3_an_unknown_outcome_is_never_sent_again(till: Till, clock: Clock, days: int):
    """Not by a retry, however late, and not by looking."""
    till.bank.says = [IS_UNKNOWN]
    await till.post()
    till.bank.knows = providers.Unavailable("down")

    for _ in range(3):
        clock.passes(days * 24 * 3600)
        assert await till.post(asking(day=clock.now().date())) == OK
        await till.look()

    assert len(till.bank.orders) == 1
    assert (await till.row()).state is UNKNOWN


async def test_r4_not_found_counts_after_the_quiet_period_alone(till: Till, clock: Clock):
    """Before it, the order may still be on its way inside the bank."""
    till.bank.says = [IS_UNKNOWN, IS_ACCEPTED]
    await till.post()

    await till.look()
    assert await till.post() == OK
    assert len(till.bank.orders) == 1

    clock.passes(60 + 600)
    await till.look()
    assert await till.post() == OK
    assert len(till.bank.orders) == 2


async def test_r5_a_duplicate_is_ours_and_ordered(till: Till):
    """An adapter says Accepted for it, perhaps without ids; the next look brings them."""
    till.bank.says = [Accepted(evidence=ANSWERED)]
    assert await till.post() == OK
    till.bank.knows = IS_SETTLED

    found = await till.look()

    assert (found.state, found.provider_id, found.e2e_id) == (PAID, "p-1", "E1")


RAISED = [
    providers.NotSupported("x"),
    providers.NotFound("x"),
    providers.Refused("x"),
    providers.CredentialsRefused("x"),
    providers.RateLimited("x"),
    providers.Unreachable("x"),
    providers.Unavailable("x"),
    providers.BadReply("x"),
    TimeoutError(),
    ConnectionRefusedError(),
    ValueError("x"),
]


@pytest.mark.parametrize("raised", RAISED, ids=lambda each: type(each).__name__)
async def test_r6_whatever_an_adapter_raises_proves_nothing(till: Till, raised: Exception):
    """Only outcomes are definite: not even "unreachable" as an exception means unsent."""
    till.bank.says = [raised]

    assert await till.post() == DOUBT
    assert (await till.row()).state is UNKNOWN
    assert await till.post() == OK
    assert len(till.bank.orders) == 1
    [attempt] = await till.attempts()
    assert attempt.evidence is not None
    assert (attempt.evidence.reason, attempt.evidence.bytes_left) == ("adapter_raised", True)


@pytest.mark.parametrize("said", [IS_REJECTED, IS_FORBIDDEN], **IDS)
@pytest.mark.parametrize("fails", ["fails_before", "fails_after"])
async def test_r7_a_rejection_is_answered_once_stored(till: Till, said: Rejected, fails: str):
    """A 400 that nobody remembers could be followed by money."""
    till.bank.says = [said]
    setattr(till.store, fails, {"record"})

    assert await till.post() == DOUBT
    assert (await till.row()).state is (SENDING if fails == "fails_before" else REJECTED)


# Where somebody else brought the row to while the bank was asked.
ELSEWHERE = [UNKNOWN, ACCEPTED, PAID, FAILED, NOT_SENT]
LATE = [
    (UNKNOWN, IS_ACCEPTED, ACCEPTED, OK),
    (UNKNOWN, IS_SETTLED, PAID, OK),
    (UNKNOWN, IS_REJECTED, REJECTED, BAD),
    (UNKNOWN, IS_NOT_SENT, NOT_SENT, UNSENT),
    (UNKNOWN, IS_UNKNOWN, UNKNOWN, DOUBT),
    (ACCEPTED, IS_ACCEPTED, ACCEPTED, OK),
    (ACCEPTED, IS_REJECTED, ACCEPTED, DOUBT),
    (ACCEPTED, IS_NOT_SENT, ACCEPTED, UNSENT),
    (ACCEPTED, IS_UNKNOWN, ACCEPTED, DOUBT),
    (PAID, IS_ACCEPTED, PAID, OK),
    (PAID, IS_SETTLED, PAID, OK),
    (PAID, IS_REJECTED, PAID, DOUBT),
    (PAID, IS_UNKNOWN, PAID, DOUBT),
    (FAILED, IS_ACCEPTED, FAILED, OK),
    (FAILED, IS_REJECTED, FAILED, DOUBT),
    (FAILED, IS_UNKNOWN, FAILED, DOUBT),
    (NOT_SENT, IS_ACCEPTED, NOT_SENT, OK),
    (NOT_SENT, IS_REJECTED, NOT_SENT, DOUBT),
    (NOT_SENT, IS_UNKNOWN, NOT_SENT, DOUBT),
]


@pytest.mark.parametrize(("meanwhile", "said", "after", "answer"), LATE, **IDS)
async def test_r8_a_late_outcome_never_overwrites_what_came_first(
    till: Till, meanwhile: PayoutState, said: Outcome, after: PayoutState, answer: str
):
    """Compare-and-set on attempt and state; what was lost is counted, a rejection not told."""

    async def elsewhere(_order: PayoutOrder) -> None:
        assert await till.store.inner.record(till._step(SENDING, meanwhile))

    till.bank.on_order = elsewhere
    till.bank.says = [said]

    assert await till.post() == answer
    assert (await till.row()).state is after
    moved = meanwhile is UNKNOWN and after is not UNKNOWN
    assert till.lost == ([] if moved else ["sandbox"])


@pytest.mark.parametrize("said", [IS_ACCEPTED, IS_SETTLED, IS_REJECTED, IS_NOT_SENT], **IDS)
async def test_r8_an_outcome_of_an_old_attempt_is_no_outcome_of_the_new_one(
    till: Till, said: Outcome
):
    """Both are unknown by their state: only the number of the attempt tells them apart."""

    async def next_attempt(_order: PayoutOrder) -> None:
        till.bank.on_order = None
        assert await till.store.inner.record(till._step(SENDING, NOT_SENT))
        till.bank.says = [IS_UNKNOWN]
        assert await till.beside().post() == DOUBT
        till.bank.says = [said]

    till.bank.on_order = next_attempt

    await till.post()

    row = await till.row()
    assert (row.state, row.attempt, row.provider_id) == (UNKNOWN, 2, "")
    assert till.lost == ["sandbox"]


@pytest.mark.parametrize("passed_s", [0, 19, 21, 59])
async def test_r9_nobody_takes_a_send_over_that_is_still_owned(
    till: Till, clock: Clock, passed_s: int
):
    """Also not once its deadline for sending is over: the bank may still be at work."""
    before = await till.stands(SENDING)
    clock.passes(passed_s)
    clock.step_s = 3.0

    assert await till.post() == OK
    assert await till.row() == before
    assert till.bank.orders == []


@pytest.mark.parametrize("passed_s", [60, 3600])
async def test_r9_after_the_lease_it_is_unknown_and_still_not_sent(
    till: Till, clock: Clock, passed_s: int
):
    await till.stands(SENDING)
    clock.passes(passed_s)

    assert await till.post() == OK
    assert (await till.row()).state is UNKNOWN
    assert till.bank.orders == []


@pytest.mark.parametrize("state", [SENDING, UNKNOWN, ACCEPTED, PAID])
async def test_r11_the_date_is_looked_at_after_the_reference(
    till: Till, clock: Clock, state: PayoutState
):
    """A caller that repeats after midnight must not be told to begin anew: it would pay twice."""
    await till.stands(state)
    clock.step_s = 6.0

    for day in (TODAY, TOMORROW, TODAY - timedelta(days=1)):
        assert await till.post(asking(day=day)) == OK


async def test_r11_a_reference_without_a_row_has_to_be_of_today(till: Till):
    assert await till.post(asking(day=TOMORROW)) == NOT_TODAY


OTHERS: list[PayoutRequest] = [
    asking(value=Money(1051)),
    replace(asking(), description=""),
    replace(asking(), destination=replace(PIX, key="mario@example.com")),
    replace(asking(), method=PayoutMethod.BANK_ACCOUNT),
]


@pytest.mark.parametrize("other", OTHERS, ids=["value", "description", "key", "method"])
@pytest.mark.parametrize("state", PayoutState)
async def test_r12_other_content_under_a_known_reference_is_refused(
    till: Till, state: PayoutState, other: PayoutRequest
):
    """In every state, on every day, and without a wait for the one being sent."""
    before = await till.stands(state)

    for day in (TODAY, TOMORROW):
        assert await till.post(replace(other, date=day)) == BAD

    assert await till.row() == before
    assert (till.bank.orders, till.bank.lookups) == ([], [])


async def test_r12_the_same_content_spelt_otherwise_is_the_same(till: Till):
    await till.stands(ACCEPTED)

    assert await till.post(replace(asking(), destination_sent={"tax_number": "52998224725"})) == OK


@pytest.mark.parametrize("state", [None, NOT_SENT], ids=["new", "unsent"])
async def test_r13_the_deadline_for_sending_runs_from_before_the_store_was_asked(
    till: Till, clock: Clock, state: PayoutState | None
):
    """A process that pauses after its insert must find its time over, as others do."""
    if state:
        await till.stands(state)

    def slow(name: str) -> None:
        clock.passes(15 if name in {"add", "claim"} else 0)

    till.store.on_call = slow

    await till.post()

    assert till.bank.deadlines == [5.0]


async def test_r14_a_bank_that_ignores_our_key_never_gets_a_second_order(till: Till, clock: Clock):
    till.bank.capabilities = providers.Capabilities(lookup_by_key=True, absent_after=timedelta(0))
    till.bank.says = [IS_UNKNOWN]
    till.bank.knows = NotFound("absent")
    await till.post()

    for _ in range(5):
        clock.passes(24 * 3600)
        await till.look()
        await till.post(asking(day=clock.now().date()))

    assert len(till.bank.orders) == 1


@pytest.mark.parametrize("amount", [Money(1), Money(1049), Money(1051), Money(105_000)], ids=str)
async def test_another_amount_than_ours_is_never_called_paid(till: Till, amount: Money):
    """Somebody has to look at it; it is neither paid nor failed."""
    wrong = replace(IS_SETTLED, value=amount)
    till.bank.says, till.bank.knows = [wrong], wrong

    assert await till.post() == DOUBT
    assert (await till.look()).state is UNKNOWN
    [attempt] = await till.attempts()
    assert attempt.evidence is not None
    assert attempt.evidence.reason == "amount_mismatch"


def test_settled_is_the_only_outcome_that_pays():
    """Another outcome added to the port has to be thought through here."""
    assert set(providers.Outcome.__args__) == {
        providers.NotSent,
        Rejected,
        Accepted,
        Settled,
        providers.Unknown,
    }
