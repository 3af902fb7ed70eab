"""Following up: the bank's word moves a payout on as far as it proves, and nothing is sent."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.providers import (
    Accepted,
    BadReply,
    Capabilities,
    CredentialsRefused,
    NotFound,
    NotSupported,
    Outcome,
    Phase,
    RateLimited,
    Refused,
    Rejected,
    Repeat,
    Unavailable,
    Unreachable,
)
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import Failure, PayoutState
from tests.unit.paying import (
    ACCEPTED,
    ANSWERED,
    CAREFUL,
    FAILED,
    IS_ACCEPTED,
    IS_FORBIDDEN,
    IS_NOT_SENT,
    IS_REJECTED,
    IS_SETTLED,
    IS_UNKNOWN,
    NOT_SENT,
    PAID,
    QUIET,
    REJECTED,
    SENDING,
    UNKNOWN,
    Till,
)
from tests.unit.people import account
from tests.unit.standing import NOON, Clock

LEASE = timedelta(seconds=60)
DAY_S = 24 * 3600
RETURNED = Rejected(evidence=ANSWERED, failure=FailureCode.RETURNED)
MISMATCHES = [replace(IS_SETTLED, value=Money(centavos)) for centavos in (1049, 1051)]


@pytest.fixture(autouse=True)
def never_sends(till: Till):
    """Whatever is looked at: money is sent inside a caller's own request alone."""
    yield
    assert till.bank.orders == []


PROVES = [
    (UNKNOWN, IS_SETTLED, PAID),
    (UNKNOWN, IS_ACCEPTED, ACCEPTED),
    (UNKNOWN, IS_REJECTED, FAILED),
    (UNKNOWN, RETURNED, FAILED),
    (UNKNOWN, IS_UNKNOWN, UNKNOWN),
    (UNKNOWN, IS_NOT_SENT, UNKNOWN),
    (ACCEPTED, IS_SETTLED, PAID),
    (ACCEPTED, IS_ACCEPTED, ACCEPTED),
    (ACCEPTED, IS_REJECTED, FAILED),
    (ACCEPTED, RETURNED, FAILED),
    (ACCEPTED, IS_UNKNOWN, ACCEPTED),
    (ACCEPTED, IS_NOT_SENT, ACCEPTED),
]


@pytest.mark.parametrize(("state", "said", "after"), PROVES, ids=lambda each: str(each)[:32])
async def test_the_bank_s_word_moves_an_unsettled_payout(
    till: Till, state: PayoutState, said: Outcome, after: PayoutState
):
    before = await till.stands(state)
    till.bank.knows = said

    found = await till.look()

    assert found == await till.row()
    assert found.state is after
    assert (found == before) == (after is state)
    assert till.lost == []


@pytest.mark.parametrize("said", MISMATCHES, ids=["less", "more"])
@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_another_amount_than_ours_wants_a_person_to_look(
    till: Till, state: PayoutState, said: Outcome
):
    """It is neither success nor failure, and the partner sees it processing."""
    before = await till.stands(state)
    till.bank.knows = said

    found = await till.look()

    assert found == replace(before, review=True)
    assert await till.row() == before


async def test_what_the_bank_adds_is_kept(till: Till):
    await till.stands(UNKNOWN)
    till.bank.knows = Accepted(evidence=ANSWERED, provider_id="p-9", e2e_id="E9")
    await till.look()
    till.bank.knows = replace(IS_SETTLED, provider_id="p-9", e2e_id="")

    found = await till.look()

    assert (found.provider_id, found.e2e_id, found.settled_at) == ("p-9", "E9", NOON)
    assert till.bank.lookups == [(found.provider_key, ""), (found.provider_key, "p-9")]
    [attempt] = await till.attempts()
    assert (attempt.outcome, attempt.evidence) == (PAID, ANSWERED)


async def test_the_bank_s_own_time_of_settlement_is_kept(till: Till):
    await till.stands(ACCEPTED)
    till.bank.knows = replace(IS_SETTLED, settled_at=NOON - timedelta(seconds=9))

    assert (await till.look()).settled_at == NOON - timedelta(seconds=9)


async def test_the_reason_of_a_failure_is_kept(till: Till):
    await till.stands(ACCEPTED)
    till.bank.knows = IS_FORBIDDEN

    assert (await till.look()).failure == Failure(FailureCode.LIMIT_EXCEEDED, forbidden=True)


@pytest.mark.parametrize("state", [SENDING, NOT_SENT, PAID, REJECTED, FAILED])
async def test_the_bank_is_asked_about_unsettled_payouts_alone(till: Till, state: PayoutState):
    before = await till.stands(state)
    till.bank.knows = IS_SETTLED

    assert await till.look() == before
    assert till.bank.lookups == []


FAILURES = [
    NotSupported("x"),
    Refused("x"),
    CredentialsRefused("x"),
    RateLimited("x"),
    Unreachable("x"),
    Unavailable("x"),
    BadReply("x"),
    TimeoutError(),
    KeyError("an adapter's mistake"),
    RuntimeError("an adapter's mistake"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_a_bank_that_fails_proves_nothing(
    till: Till, state: PayoutState, failure: Exception, clock: Clock
):
    """Not even long after: only the word "not found" counts as absence."""
    before = await till.stands(state)
    till.bank.knows = failure
    clock.passes(7 * DAY_S)

    assert await till.look() == before


async def test_a_look_has_its_deadline(till: Till):
    """At most one short look inside a read; the caller waits no longer for it."""
    before = await till.stands(UNKNOWN)
    till.bank.gate.clear()

    async with asyncio.timeout(5):
        found = await till.follow_up.look(before, account(), within_s=0.02)

    assert found == before


# Absence


async def test_absence_is_believed_after_lease_and_quiet_period_alone(till: Till, clock: Clock):
    """Until then the attempt may still execute."""
    await till.stands(UNKNOWN)
    clock.at = NOON + LEASE + QUIET - timedelta(seconds=1)
    assert (await till.look()).state is UNKNOWN

    clock.passes(1)
    found = await till.look()

    assert found.state is NOT_SENT
    [attempt] = await till.attempts()
    assert attempt.evidence is not None
    assert (attempt.evidence.phase, attempt.evidence.reason) == (Phase.ANSWERED, "absent")


async def test_absence_counts_from_when_the_bank_was_asked(till: Till, clock: Clock):
    """An order may have executed between its look and our reading of the answer."""
    before = await till.stands(UNKNOWN)
    clock.at = NOON + LEASE + QUIET - timedelta(seconds=1)
    till.bank.gate.clear()
    looking = asyncio.ensure_future(till.follow_up.look(before, account()))
    while not till.bank.lookups:
        await asyncio.sleep(0)

    clock.passes(2)
    till.bank.gate.set()

    assert (await looking).state is UNKNOWN


@pytest.mark.parametrize(
    "can",
    [
        replace(CAREFUL, absent_after=None),
        Capabilities(),
    ],
    ids=["no quiet period", "declares nothing"],
)
async def test_without_these_declarations_absence_proves_nothing_ever(
    till: Till, clock: Clock, can: Capabilities
):
    before = await till.stands(UNKNOWN)
    till.bank.capabilities = can
    clock.passes(365 * DAY_S)

    assert await till.look() == before


async def test_at_a_bank_that_ignores_our_key_an_absent_payout_fails_for_good(
    till: Till, clock: Clock
):
    """It would pay a second attempt again, so there is never one."""
    await till.stands(UNKNOWN)
    till.bank.capabilities = replace(CAREFUL, repeat=Repeat.IGNORES)
    clock.passes(365 * DAY_S)

    found = await till.look()

    assert (found.state, found.failure) == (FAILED, Failure(FailureCode.NOT_SENT))


@pytest.mark.parametrize("repeat", [Repeat.SAME_ANSWER, Repeat.REFUSES])
async def test_a_bank_that_knows_our_key_proves_absence(till: Till, clock: Clock, repeat: Repeat):
    await till.stands(UNKNOWN)
    till.bank.capabilities = replace(CAREFUL, repeat=repeat)
    clock.passes(3600)

    assert (await till.look()).state is NOT_SENT


async def test_an_accepted_payout_is_never_absent(till: Till, clock: Clock):
    """The bank has ordered it; one that cannot show it now may pay it still."""
    before = await till.stands(ACCEPTED)
    clock.passes(365 * DAY_S)

    assert await till.look() == before


# Leases and days


async def test_a_payout_whose_sender_is_gone_is_unknown(till: Till, clock: Clock):
    await till.stands(SENDING)
    clock.at = NOON + LEASE - timedelta(microseconds=1)
    assert (await till.look()).state is SENDING

    clock.at = NOON + LEASE
    found = await till.look()

    assert found.state is UNKNOWN
    [attempt] = await till.attempts()
    assert attempt.evidence is not None
    assert (attempt.evidence.reason, attempt.evidence.bytes_left) == ("lease_ended", True)


async def test_and_is_looked_up_at_once(till: Till, clock: Clock):
    await till.stands(SENDING)
    clock.passes(60)
    till.bank.knows = IS_SETTLED

    assert (await till.look()).state is PAID


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED, PAID])
async def test_other_states_have_no_lease(till: Till, clock: Clock, state: PayoutState):
    before = await till.stands(state)
    clock.passes(3600)

    assert await till.follow_up.expire_lease(before) == before


async def test_what_was_never_sent_fails_when_its_day_is_over(till: Till, clock: Clock):
    await till.stands(NOT_SENT)
    clock.passes(12 * 3600 - 1)
    assert (await till.look()).state is NOT_SENT

    clock.passes(1)
    found = await till.look()

    assert (found.state, found.failure) == (FAILED, Failure(FailureCode.NOT_SENT))
    assert till.bank.lookups == []


@pytest.mark.parametrize(
    ("knows", "ends"),
    [(IS_SETTLED, PAID), (NotFound("absent"), FAILED), (Unavailable("down"), UNKNOWN)],
    ids=["the bank paid it", "the bank knows nothing", "the bank does not tell"],
)
async def test_after_a_restore_the_bank_is_asked_before_a_day_ends(
    till: Till, clock: Clock, knows: Outcome | Exception, ends: PayoutState
):
    """A backup may have forgotten the attempt that followed the one that was not sent."""
    await till.stands(NOT_SENT)
    till.follow_up = replace(till.follow_up, look_first=True)
    till.bank.knows = knows
    clock.passes(DAY_S)

    doubted = await till.look()
    found = await till.look()

    assert doubted.state is UNKNOWN
    assert found.state is ends
    assert len(till.bank.lookups) == 1


async def test_the_day_of_an_attempt_that_may_have_left_is_never_over(till: Till, clock: Clock):
    await till.stands(UNKNOWN)
    clock.passes(30 * DAY_S)
    till.bank.knows = Unavailable("down")

    assert (await till.look()).state is UNKNOWN


# Banks, stores and others


async def test_a_bank_whose_credentials_cannot_be_opened_is_not_asked(till: Till):
    before = await till.stands(UNKNOWN)

    def sealed(_account: object) -> None:
        raise FAILURES[2]

    till.banks.of = sealed  # type: ignore[assignment,method-assign]

    assert await till.look() == before
    assert till.bank.lookups == []


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_another_bank_is_not_asked(till: Till, state: PayoutState, clock: Clock):
    """It never heard of the payout: its "not found" would be believed."""
    before = await till.stands(state)
    till.banks.name = "other-bank"
    clock.passes(DAY_S)

    assert await till.look() == before
    till.banks.is_there = False
    assert await till.look() == before
    assert till.bank.lookups == []


@pytest.mark.parametrize(
    ("fails", "state"), [("record", UNKNOWN), ("find", PAID)], ids=["record", "find"]
)
async def test_a_store_that_fails_is_no_error(till: Till, fails: str, state: PayoutState):
    """The payout is answered as it was last known."""
    before = await till.stands(UNKNOWN)
    till.bank.knows = IS_SETTLED
    till.store.fails_before = {fails}

    found = await till.follow_up.look(before, account())

    assert found == before
    assert (await till.row()).state is state


async def test_whoever_was_quicker_wins_and_the_loss_is_counted(till: Till):
    """The row of the winner is answered, not what we meant to make of it."""
    before = await till.stands(UNKNOWN)
    till.bank.gate.clear()
    till.bank.knows = IS_REJECTED
    looking = asyncio.ensure_future(till.follow_up.look(before, account()))
    while not till.bank.lookups:
        await asyncio.sleep(0)
    other = till.beside()
    await other.store.record(other._step(UNKNOWN, PAID))

    till.bank.gate.set()

    assert (await looking).state is PAID
    assert (await till.row()).failure is None
    assert till.lost == ["sandbox"]


@pytest.mark.parametrize("said", [IS_SETTLED, IS_ACCEPTED, IS_REJECTED, NotFound("absent")])
async def test_many_may_follow_up_at_once(till: Till, clock: Clock, said: Outcome | Exception):
    before = await till.stands(UNKNOWN)
    till.bank.knows = said
    clock.passes(3600)
    nodes = [till, till.beside(), till.beside()]

    found = await asyncio.gather(
        *(node.follow_up.look(before, account()) for node in nodes for _ in range(4))
    )

    assert {each.state for each in found} == {(await till.row()).state}
    assert len(await till.attempts()) == 1
