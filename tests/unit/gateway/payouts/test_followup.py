"""Following up: the bank's word moves a payout on as far as it proves, and nothing is sent."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.banks.port.capabilities import Capabilities, Repeat
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    CredentialsRefused,
    NotFound,
    NotSupported,
    Outcome,
    Phase,
    PixReturn,
    RateLimited,
    Refused,
    Rejected,
    Unavailable,
    Unreachable,
)
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import Certainty, Failure, PayoutState, certainty_of
from gateway.telemetry.ports import Event
from tests.world.payouts import (
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
    PayoutWorld,
)
from tests.world.people import account
from tests.world.standing import NOON, Clock

LEASE = timedelta(seconds=60)
DAY_S = 24 * 3600
RETURNED = Rejected(evidence=ANSWERED, failure=FailureCode.RETURNED)
MISMATCHES = [replace(IS_SETTLED, value=Money(centavos)) for centavos in (1049, 1051)]


@pytest.fixture(autouse=True)
def never_sends(payout_world: PayoutWorld):
    """Whatever is queried: money is sent only inside a caller's own request."""
    yield
    assert payout_world.bank.orders == []


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
async def test_an_answer_of_the_bank_moves_an_unsettled_payout(
    payout_world: PayoutWorld, state: PayoutState, said: Outcome, after: PayoutState
):
    before = await payout_world.stands(state)
    payout_world.bank.knows = said

    found = await payout_world.look()

    assert found == await payout_world.row()
    assert found.state is after
    assert (found == before) == (after is state)
    assert payout_world.lost == []


@pytest.mark.parametrize("said", MISMATCHES, ids=["less", "more"])
@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_another_amount_at_the_bank_requires_a_review(
    payout_world: PayoutWorld, state: PayoutState, said: Outcome
):
    """Neither success nor failure, and the partner sees it as processing."""
    before = await payout_world.stands(state)
    payout_world.bank.knows = said

    found = await payout_world.look()

    assert found == replace(before, review=True)
    assert await payout_world.row() == before


@pytest.mark.parametrize("said", [IS_ACCEPTED, IS_SETTLED], ids=["accepted", "settled"])
async def test_a_payout_with_another_destination_requires_a_review(
    payout_world: PayoutWorld, said: Outcome
):
    """Key and amount agree, so no look-up can see it; the answer to the order showed it."""
    elsewhere = replace(ANSWERED, reason="destination_mismatch")
    before = await payout_world.stands(UNKNOWN, evidence=elsewhere)
    payout_world.bank.knows = said

    found = await payout_world.look()

    assert found == replace(before, review=True)
    assert await payout_world.row() == before


async def test_a_payout_with_another_destination_that_failed_is_failed(payout_world: PayoutWorld):
    elsewhere = replace(ANSWERED, reason="destination_mismatch")
    await payout_world.stands(UNKNOWN, evidence=elsewhere)
    payout_world.bank.knows = IS_REJECTED

    assert (await payout_world.look()).state is FAILED


async def test_fields_added_by_the_bank_are_kept(payout_world: PayoutWorld):
    await payout_world.stands(UNKNOWN)
    payout_world.bank.knows = Accepted(evidence=ANSWERED, provider_id="p-9", e2e_id="E9")
    await payout_world.look()
    payout_world.bank.knows = replace(IS_SETTLED, provider_id="p-9", e2e_id="")

    found = await payout_world.look()

    assert (found.provider_id, found.e2e_id, found.settled_at) == ("p-9", "E9", NOON)
    assert payout_world.bank.lookups == [(found.provider_key, ""), (found.provider_key, "p-9")]
    [attempt] = await payout_world.attempts()
    assert (attempt.outcome, attempt.evidence) == (PAID, ANSWERED)


async def test_the_bank_s_settlement_time_is_stored(payout_world: PayoutWorld):
    await payout_world.stands(ACCEPTED)
    payout_world.bank.knows = replace(IS_SETTLED, settled_at=NOON - timedelta(seconds=9))

    assert (await payout_world.look()).settled_at == NOON - timedelta(seconds=9)


async def test_the_failure_code_of_the_bank_is_stored(payout_world: PayoutWorld):
    await payout_world.stands(ACCEPTED)
    payout_world.bank.knows = IS_FORBIDDEN

    assert (await payout_world.look()).failure == Failure(
        FailureCode.LIMIT_EXCEEDED, forbidden=True
    )


@pytest.mark.parametrize("state", [SENDING, NOT_SENT, PAID, REJECTED, FAILED])
async def test_the_bank_is_queried_about_unsettled_payouts_alone(
    payout_world: PayoutWorld, state: PayoutState
):
    before = await payout_world.stands(state)
    payout_world.bank.knows = IS_SETTLED

    assert await payout_world.look() == before
    assert payout_world.bank.lookups == []


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
async def test_a_failed_query_proves_nothing(
    payout_world: PayoutWorld, state: PayoutState, failure: Exception, clock: Clock
):
    """Not even long after: only "not found" counts as absence."""
    before = await payout_world.stands(state)
    payout_world.bank.knows = failure
    clock.passes(7 * DAY_S)

    assert await payout_world.look() == before


async def test_a_query_within_a_read_has_a_deadline(payout_world: PayoutWorld):
    """At most one short query within a read."""
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.gate.clear()

    found = await payout_world.follow_up.look(before, account(), within_s=0.02)

    assert found == before


# Absence


async def test_absence_is_accepted_only_after_lease_and_quiet_period(
    payout_world: PayoutWorld, clock: Clock
):
    """Until then the attempt may still be executed."""
    await payout_world.stands(UNKNOWN)
    clock.passes((LEASE + QUIET).total_seconds() - 1)
    assert (await payout_world.look()).state is UNKNOWN

    clock.passes(1)
    found = await payout_world.look()

    assert found.state is NOT_SENT
    [attempt] = await payout_world.attempts()
    assert attempt.evidence is not None
    assert (attempt.evidence.phase, attempt.evidence.reason) == (Phase.ANSWERED, "absent")
    assert certainty_of(found) is Certainty.NOT_EXECUTED
    clock.passes(24 * 3600)
    assert certainty_of(await payout_world.look()) is Certainty.NOT_EXECUTED


async def test_the_quiet_period_is_measured_when_the_query_starts(
    payout_world: PayoutWorld, clock: Clock
):
    """The order may have been executed between the query and our reading of the answer."""
    before = await payout_world.stands(UNKNOWN)
    clock.passes((LEASE + QUIET).total_seconds() - 1)
    payout_world.bank.gate.clear()
    looking = asyncio.ensure_future(payout_world.follow_up.look(before, account()))
    while not payout_world.bank.lookups:
        await asyncio.sleep(0)

    clock.passes(2)
    payout_world.bank.gate.set()

    assert (await looking).state is UNKNOWN


@pytest.mark.parametrize(
    "can",
    [
        replace(CAREFUL, absent_after=None),
        Capabilities(),
    ],
    ids=["no quiet period", "declares nothing"],
)
async def test_absence_proves_nothing_without_the_required_capabilities(
    payout_world: PayoutWorld, clock: Clock, can: Capabilities
):
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.capabilities = can
    clock.passes(365 * DAY_S)

    assert await payout_world.look() == before


async def test_an_absent_payout_fails_at_a_bank_that_ignores_our_key(
    payout_world: PayoutWorld, clock: Clock
):
    """It would pay a second attempt, so there is never one."""
    await payout_world.stands(UNKNOWN)
    payout_world.bank.capabilities = replace(CAREFUL, repeat=Repeat.IGNORES)
    clock.passes(365 * DAY_S)

    found = await payout_world.look()

    assert (found.state, found.failure) == (FAILED, Failure(FailureCode.NOT_SENT))
    assert certainty_of(found) is Certainty.NOT_EXECUTED


@pytest.mark.parametrize("repeat", [Repeat.SAME_ANSWER, Repeat.REFUSES])
async def test_absence_proves_not_sent_at_a_bank_that_honours_our_key(
    payout_world: PayoutWorld, clock: Clock, repeat: Repeat
):
    await payout_world.stands(UNKNOWN)
    payout_world.bank.capabilities = replace(CAREFUL, repeat=repeat)
    clock.passes(3600)

    assert (await payout_world.look()).state is NOT_SENT


async def test_absence_of_an_accepted_payout_proves_nothing(
    payout_world: PayoutWorld, clock: Clock
):
    """The bank accepted it, and may still pay it although it cannot show it now."""
    before = await payout_world.stands(ACCEPTED)
    clock.passes(365 * DAY_S)

    assert await payout_world.look() == before


# Leases and days


async def test_a_sending_payout_is_unknown_after_its_lease(payout_world: PayoutWorld, clock: Clock):
    await payout_world.stands(SENDING)
    clock.passes(LEASE.total_seconds() - 1)
    assert (await payout_world.look()).state is SENDING

    clock.passes(1)
    found = await payout_world.look()

    assert found.state is UNKNOWN
    [attempt] = await payout_world.attempts()
    assert attempt.evidence is not None
    assert (attempt.evidence.reason, attempt.evidence.bytes_left) == ("lease_ended", True)


@pytest.mark.parametrize("state", [SENDING, UNKNOWN])
async def test_a_clock_set_ahead_ends_neither_lease_nor_quiet_period(
    payout_world: PayoutWorld, clock: Clock, state: PayoutState
):
    """The sender may still be sending, and the bank may still execute it."""
    await payout_world.stands(state)
    clock.at += timedelta(hours=2)
    assert (await payout_world.look()).state is state

    clock.passes((LEASE + QUIET).total_seconds() - 1)
    assert (await payout_world.look()).state is not NOT_SENT
    clock.passes(1)

    assert (await payout_world.look()).state is NOT_SENT


async def test_a_sending_payout_is_queried_when_its_lease_ends(
    payout_world: PayoutWorld, clock: Clock
):
    await payout_world.stands(SENDING)
    clock.passes(60)
    payout_world.bank.knows = IS_SETTLED

    assert (await payout_world.look()).state is PAID


async def test_an_unsent_payout_fails_at_the_end_of_its_day(
    payout_world: PayoutWorld, clock: Clock
):
    await payout_world.stands(NOT_SENT)
    clock.passes(12 * 3600 - 1)
    assert (await payout_world.look()).state is NOT_SENT

    clock.passes(1)
    found = await payout_world.look()

    assert (found.state, found.failure) == (FAILED, Failure(FailureCode.NOT_SENT))
    assert payout_world.bank.lookups == []


@pytest.mark.parametrize(
    ("knows", "ends"),
    [(IS_SETTLED, PAID), (NotFound("absent"), FAILED), (Unavailable("down"), UNKNOWN)],
    ids=["the bank paid it", "the bank knows nothing", "the bank does not tell"],
)
async def test_after_a_restore_the_bank_is_queried_before_a_day_ends(
    payout_world: PayoutWorld, clock: Clock, knows: Outcome | Exception, ends: PayoutState
):
    """A backup may lack the attempt that followed the unsent one."""
    await payout_world.stands(NOT_SENT)
    payout_world.follow_up = replace(payout_world.follow_up, look_first=True)
    payout_world.bank.knows = knows
    clock.passes(DAY_S)

    doubted = await payout_world.look()
    found = await payout_world.look()

    assert doubted.state is UNKNOWN
    assert found.state is ends
    assert len(payout_world.bank.lookups) == 1


# Banks, stores and others


async def test_a_bank_with_unreadable_credentials_is_not_queried(payout_world: PayoutWorld):
    before = await payout_world.stands(UNKNOWN)

    def sealed(_account: object) -> None:
        raise FAILURES[2]

    payout_world.banks.of = sealed  # type: ignore[assignment,method-assign]

    assert await payout_world.look() == before
    assert payout_world.bank.lookups == []


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_another_bank_is_not_queried(
    payout_world: PayoutWorld, state: PayoutState, clock: Clock
):
    """It never had the payout, and its "not found" would be misleading."""
    before = await payout_world.stands(state)
    payout_world.banks.name = "other-bank"
    clock.passes(DAY_S)

    assert await payout_world.look() == before
    payout_world.banks.is_there = False
    assert await payout_world.look() == before
    assert payout_world.bank.lookups == []


async def test_another_account_at_the_bank_is_not_queried(payout_world: PayoutWorld, clock: Clock):
    """It never had the payout either, which would then be sent twice."""
    payout_world.bank.knows = NotFound("absent")
    before = await payout_world.stands(UNKNOWN)
    moved = replace(account(), provider_account="conta-2")
    clock.passes(DAY_S)

    seen = await payout_world.follow_up.look(before, moved)
    searched = await payout_world.follow_up.search_statement(before, moved, 1.0)

    assert (seen, searched, payout_world.bank.lookups) == (before, before, [])


@pytest.mark.parametrize(
    ("fails", "state"), [("record", UNKNOWN), ("find", PAID)], ids=["record", "find"]
)
async def test_a_store_failure_during_a_query_returns_the_known_payout(
    payout_world: PayoutWorld, fails: str, state: PayoutState
):
    """With its last known state."""
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.knows = IS_SETTLED
    payout_world.store.fails_before = {fails}

    found = await payout_world.follow_up.look(before, account())

    assert found == before
    assert (await payout_world.row()).state is state


async def test_the_first_recorded_outcome_wins_and_a_lost_one_is_counted(payout_world: PayoutWorld):
    """The winner's row is answered."""
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.gate.clear()
    payout_world.bank.knows = IS_REJECTED
    looking = asyncio.ensure_future(payout_world.follow_up.look(before, account()))
    while not payout_world.bank.lookups:
        await asyncio.sleep(0)
    other = payout_world.beside()
    await other.store.record(other._step(UNKNOWN, PAID))

    payout_world.bank.gate.set()

    assert (await looking).state is PAID
    assert (await payout_world.row()).failure is None
    assert payout_world.lost == ["sandbox"]


@pytest.mark.parametrize("said", [IS_SETTLED, IS_ACCEPTED, IS_REJECTED, NotFound("absent")])
async def test_concurrent_queries_agree_on_one_state(
    payout_world: PayoutWorld, clock: Clock, said: Outcome | Exception
):
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.knows = said
    clock.passes(3600)
    nodes = [payout_world, payout_world.beside(), payout_world.beside()]

    found = await asyncio.gather(
        *(node.follow_up.look(before, account()) for node in nodes for _ in range(4))
    )

    assert {each.state for each in found} == {(await payout_world.row()).state}
    assert len(await payout_world.attempts()) == 1


HELD = replace(IS_ACCEPTED, held_until=NOON + timedelta(minutes=30))


async def test_an_unknown_payout_that_the_bank_holds_is_accepted_with_its_deadline(
    payout_world: PayoutWorld,
):
    await payout_world.stands(UNKNOWN)
    payout_world.bank.knows = HELD

    found = await payout_world.look()

    assert (found.state, found.held_until) == (ACCEPTED, HELD.held_until)
    assert found == await payout_world.row()


async def test_a_query_records_a_bank_hold_without_changing_the_state(
    payout_world: PayoutWorld,
):
    before = await payout_world.stands(ACCEPTED)
    payout_world.bank.knows = HELD

    found = await payout_world.look()

    assert found == replace(before, held_until=HELD.held_until)
    assert await payout_world.row() == before


RETURN = PixReturn(id="D1", value=Money(400), at=NOON)
CAME_BACK = replace(IS_SETTLED, returns=(RETURN,))


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_a_return_is_stored_with_a_paid_payout(payout_world: PayoutWorld, state: PayoutState):
    """Also if both arrive at once."""
    await payout_world.stands(state)
    payout_world.bank.knows = CAME_BACK

    found = await payout_world.look()

    assert found.state is PAID
    assert await payout_world.store.returns(found.account_id, "order-1") == [RETURN]


async def test_a_return_that_cannot_be_stored_does_not_fail_the_query(
    payout_world: PayoutWorld,
):
    await payout_world.stands(ACCEPTED)
    payout_world.bank.knows = CAME_BACK
    payout_world.store.fails_before.add("note_returns")

    assert (await payout_world.look()).state is PAID


async def test_no_return_is_stored_for_another_amount(payout_world: PayoutWorld):
    await payout_world.stands(ACCEPTED)
    payout_world.bank.knows = replace(CAME_BACK, value=Money(1049))

    found = await payout_world.look()

    assert await payout_world.store.returns(found.account_id, "order-1") == []


@pytest.mark.parametrize(("said", "shown"), [(CAME_BACK, True), (IS_SETTLED, False)])
async def test_later_queries_keep_returns_and_never_change_a_paid_payout(
    payout_world: PayoutWorld, said: Outcome, shown: bool
):
    before = await payout_world.stands(PAID)
    payout_world.bank.knows = said

    told = [await payout_world.follow_up.look_back(before, account()) for _ in range(2)]

    assert told == [shown, shown]
    assert await payout_world.row() == before
    assert len(await payout_world.store.returns(before.account_id, "order-1")) == int(shown)
    counted = [each for each in payout_world.witness.counted if each[0] is Event.PAYOUT_RETURNED]
    assert counted == [(Event.PAYOUT_RETURNED, before.provider)] * int(shown)


@pytest.mark.parametrize(
    "said", [RETURNED, IS_UNKNOWN, IS_ACCEPTED], ids=lambda each: str(each)[:9]
)
async def test_other_answers_about_a_paid_payout_store_no_return(
    payout_world: PayoutWorld, said: Outcome
):
    before = await payout_world.stands(PAID)
    payout_world.bank.knows = said

    assert not await payout_world.follow_up.look_back(before, account())
    assert await payout_world.row() == before


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED, FAILED])
async def test_only_a_paid_payout_is_queried_for_returns(
    payout_world: PayoutWorld, state: PayoutState
):
    payout = await payout_world.stands(state)
    payout_world.bank.knows = CAME_BACK

    assert not await payout_world.follow_up.look_back(payout, account())
    assert payout_world.bank.lookups == []


async def test_a_failure_of_bank_or_store_is_raised_for_a_later_try(
    payout_world: PayoutWorld,
):
    payout = await payout_world.stands(PAID)
    payout_world.bank.knows = Unavailable("down")
    with pytest.raises(Unavailable):
        await payout_world.follow_up.look_back(payout, account())

    payout_world.bank.knows = CAME_BACK
    payout_world.store.fails_before.add("note_returns")
    with pytest.raises(StoreUnavailable):
        await payout_world.follow_up.look_back(payout, account())
