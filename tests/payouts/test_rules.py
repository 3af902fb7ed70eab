"""
Never twice, never lost: the rules of the payout protocol, each with what breaks without it.

They were found by exploring every order of events; none of them is a matter of taste.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port import providers
from gateway.banks.port.capabilities import Repeat
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.banks.port.providers import Accepted, NotFound, Outcome, Rejected, Settled
from gateway.core.money import Money
from gateway.payouts.model import PayoutRequest, PayoutState
from tests.world.payouts import (
    ACCEPTED,
    ANSWERED,
    BAD,
    CAREFUL,
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
    PayoutWorld,
    asking,
)
from tests.world.standing import TODAY, Clock
from tests.world.waiting import until

TOMORROW = TODAY + timedelta(days=1)
IDS = {"ids": lambda each: str(each)[:40]}


async def test_r1_the_intent_is_stored_before_the_bank_is_called(payout_world: PayoutWorld):
    """Otherwise a crash leaves money without a record, and the retry pays twice."""
    seen: list[tuple[PayoutState, int]] = []

    async def look(_order: PayoutOrder) -> None:
        row = await payout_world.beside().row()
        seen.append((row.state, row.attempt))

    payout_world.bank.on_order = look

    await payout_world.post()

    assert seen == [(SENDING, 1)]


async def test_r1_the_next_attempt_is_stored_before_the_bank_is_called(payout_world: PayoutWorld):
    await payout_world.stands(NOT_SENT)
    seen: list[tuple[PayoutState, int]] = []

    async def look(_order: PayoutOrder) -> None:
        row = await payout_world.beside().row()
        seen.append((row.state, row.attempt))

    payout_world.bank.on_order = look

    await payout_world.post()

    assert seen == [(SENDING, 2)]


@pytest.mark.parametrize("state", [None, NOT_SENT], ids=["new", "unsent"])
async def test_r2_of_concurrent_requests_one_sends(
    payout_world: PayoutWorld, state: PayoutState | None
):
    """All read before any writes, so only the atomic step decides."""
    if state:
        await payout_world.stands(state)
    nodes = [payout_world.beside() for _ in range(4)]
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
    assert len(payout_world.bank.orders) == 1
    assert sum(len(node.lost) for node in nodes) == (3 if state else 0)


@pytest.mark.parametrize("days", [0, 1, 400])
async def test_r3_an_unknown_payout_is_never_sent_again(
    payout_world: PayoutWorld, clock: Clock, days: int
):
    """Neither by a retry, however late, nor by a status query."""
    payout_world.bank.says = [IS_UNKNOWN]
    await payout_world.post()
    payout_world.bank.knows = providers.Unavailable("down")

    for _ in range(3):
        clock.passes(days * 24 * 3600)
        assert await payout_world.post(asking(day=clock.now().date())) == OK
        await payout_world.look()

    assert len(payout_world.bank.orders) == 1
    assert (await payout_world.row()).state is UNKNOWN


async def test_r4_not_found_proves_nothing_before_the_quiet_period_ends(
    payout_world: PayoutWorld, clock: Clock
):
    """Before it, the order may still be on its way inside the bank."""
    payout_world.bank.says = [IS_UNKNOWN, IS_ACCEPTED]
    await payout_world.post()

    await payout_world.look()
    assert await payout_world.post() == OK
    assert len(payout_world.bank.orders) == 1

    clock.passes(60 + 600)
    await payout_world.look()
    assert await payout_world.post() == OK
    assert len(payout_world.bank.orders) == 2


async def test_r5_a_duplicate_reported_by_the_bank_is_accepted(payout_world: PayoutWorld):
    """An adapter returns Accepted, perhaps without ids; the next query adds them."""
    payout_world.bank.says = [Accepted(evidence=ANSWERED)]
    assert await payout_world.post() == OK
    payout_world.bank.knows = IS_SETTLED

    found = await payout_world.look()

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
async def test_r6_an_adapter_s_exception_proves_nothing(
    payout_world: PayoutWorld, raised: Exception
):
    """Only outcomes are definite: not even an "unreachable" exception means unsent."""
    payout_world.bank.says = [raised]

    assert await payout_world.post() == DOUBT
    assert (await payout_world.row()).state is UNKNOWN
    assert await payout_world.post() == OK
    assert len(payout_world.bank.orders) == 1
    [attempt] = await payout_world.attempts()
    assert attempt.evidence is not None
    assert (attempt.evidence.reason, attempt.evidence.bytes_left) == ("adapter_raised", True)


@pytest.mark.parametrize("said", [IS_REJECTED, IS_FORBIDDEN], **IDS)
@pytest.mark.parametrize("fails", ["fails_before", "fails_after"])
async def test_r7_a_rejection_is_answered_once_stored(
    payout_world: PayoutWorld, said: Rejected, fails: str
):
    """A 400 that is not stored could be followed by money."""
    payout_world.bank.says = [said]
    setattr(payout_world.store, fails, {"record"})

    assert await payout_world.post() == DOUBT
    assert (await payout_world.row()).state is (SENDING if fails == "fails_before" else REJECTED)


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
async def test_r8_a_late_outcome_never_overwrites_the_first(
    payout_world: PayoutWorld,
    meanwhile: PayoutState,
    said: Outcome,
    after: PayoutState,
    answer: str,
):
    """Compare-and-set on attempt and state; a lost outcome is counted, and not answered."""

    async def elsewhere(_order: PayoutOrder) -> None:
        assert await payout_world.store.inner.record(payout_world._step(SENDING, meanwhile))

    payout_world.bank.on_order = elsewhere
    payout_world.bank.says = [said]

    assert await payout_world.post() == answer
    assert (await payout_world.row()).state is after
    moved = meanwhile is UNKNOWN and after is not UNKNOWN
    assert payout_world.lost == ([] if moved else ["sandbox"])


@pytest.mark.parametrize("said", [IS_ACCEPTED, IS_SETTLED, IS_REJECTED, IS_NOT_SENT], **IDS)
async def test_r8_an_outcome_of_an_old_attempt_does_not_change_the_new_one(
    payout_world: PayoutWorld, said: Outcome
):
    """Both have the state unknown: only the attempt number distinguishes them."""

    async def next_attempt(_order: PayoutOrder) -> None:
        payout_world.bank.on_order = None
        assert await payout_world.store.inner.record(payout_world._step(SENDING, NOT_SENT))
        payout_world.bank.says = [IS_UNKNOWN]
        assert await payout_world.beside().post() == DOUBT
        payout_world.bank.says = [said]

    payout_world.bank.on_order = next_attempt

    await payout_world.post()

    row = await payout_world.row()
    assert (row.state, row.attempt, row.provider_id) == (UNKNOWN, 2, "")
    assert payout_world.lost == ["sandbox"]


@pytest.mark.parametrize("passed_s", [0, 19, 21, 59])
async def test_r9_an_owned_send_is_never_taken_over(
    payout_world: PayoutWorld, clock: Clock, passed_s: int
):
    """Even after its send deadline: the bank may still be working on it."""
    before = await payout_world.stands(SENDING)
    clock.passes(passed_s)
    clock.step_s = 3.0

    assert await payout_world.post() == OK
    assert await payout_world.row() == before
    assert payout_world.bank.orders == []


@pytest.mark.parametrize("passed_s", [60, 3600])
async def test_r9_after_the_lease_a_payout_is_unknown_and_not_sent(
    payout_world: PayoutWorld, clock: Clock, passed_s: int
):
    await payout_world.stands(SENDING)
    clock.passes(passed_s)

    assert await payout_world.post() == OK
    assert (await payout_world.row()).state is UNKNOWN
    assert payout_world.bank.orders == []


@pytest.mark.parametrize("state", [SENDING, UNKNOWN, ACCEPTED, PAID])
async def test_r11_the_date_is_checked_after_the_reference(
    payout_world: PayoutWorld, clock: Clock, state: PayoutState
):
    """A caller repeating after midnight must not be asked for a new payout: it would pay twice."""
    await payout_world.stands(state)
    clock.step_s = 6.0

    for day in (TODAY, TOMORROW, TODAY - timedelta(days=1)):
        assert await payout_world.post(asking(day=day)) == OK


async def test_r11_a_new_reference_must_be_dated_today(payout_world: PayoutWorld):
    assert await payout_world.post(asking(day=TOMORROW)) == NOT_TODAY


OTHERS: list[PayoutRequest] = [
    asking(value=Money(1051)),
    replace(asking(), description=""),
    replace(asking(), destination=replace(PIX, key="mario@example.com")),
    replace(asking(), method=PayoutMethod.BANK_ACCOUNT),
]


@pytest.mark.parametrize("state", PayoutState)
async def test_r12_other_content_under_a_known_reference_is_refused(
    payout_world: PayoutWorld, state: PayoutState
):
    """In every state, on every day, and without waiting for one being sent."""
    before = await payout_world.stands(state)

    for other in OTHERS:
        for day in (TODAY, TOMORROW):
            assert await payout_world.post(replace(other, date=day)) == BAD

    assert await payout_world.row() == before
    assert (payout_world.bank.orders, payout_world.bank.lookups) == ([], [])


async def test_r12_the_same_content_spelt_otherwise_is_the_same(payout_world: PayoutWorld):
    await payout_world.stands(ACCEPTED)

    assert (
        await payout_world.post(replace(asking(), destination_sent={"tax_number": "52998224725"}))
        == OK
    )


@pytest.mark.parametrize("state", [None, NOT_SENT], ids=["new", "unsent"])
async def test_r13_the_send_deadline_starts_before_the_store_is_called(
    payout_world: PayoutWorld, clock: Clock, state: PayoutState | None
):
    """A process that stalls after its insert must find its time over."""
    if state:
        await payout_world.stands(state)

    def slow(name: str) -> None:
        clock.passes(15 if name in {"add", "claim"} else 0)

    payout_world.store.on_call = slow

    await payout_world.post()

    assert payout_world.bank.deadlines == [5.0]


async def test_r14_a_bank_that_ignores_our_key_never_gets_a_second_order(
    payout_world: PayoutWorld, clock: Clock
):
    payout_world.bank.capabilities = replace(
        CAREFUL, repeat=Repeat.IGNORES, absent_after=timedelta(0)
    )
    payout_world.bank.says = [IS_UNKNOWN]
    payout_world.bank.knows = NotFound("absent")
    await payout_world.post()

    for _ in range(5):
        clock.passes(24 * 3600)
        await payout_world.look()
        await payout_world.post(asking(day=clock.now().date()))

    assert len(payout_world.bank.orders) == 1


@pytest.mark.parametrize("amount", [Money(1), Money(1049), Money(1051), Money(105_000)], ids=str)
async def test_a_settlement_with_another_amount_is_never_paid(
    payout_world: PayoutWorld, amount: Money
):
    """It goes to review: it is neither paid nor failed."""
    wrong = replace(IS_SETTLED, value=amount)
    payout_world.bank.says, payout_world.bank.knows = [wrong], wrong

    assert await payout_world.post() == DOUBT
    assert (await payout_world.look()).state is UNKNOWN
    [attempt] = await payout_world.attempts()
    assert attempt.evidence is not None
    assert attempt.evidence.reason == "amount_mismatch"


def test_settled_is_the_only_outcome_that_means_paid():
    """A new outcome in the port requires a decision here."""
    assert set(providers.Outcome.__args__) == {
        providers.NotSent,
        Rejected,
        Accepted,
        Settled,
        providers.Unknown,
    }
