"""Many callers, one reference; callers that go away; nodes that stop."""

import asyncio

import pytest

from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.providers import Outcome
from gateway.core.money import Money
from gateway.payouts.model import PayoutState
from tests.world.payouts import (
    ACCEPTED,
    BAD,
    DOUBT,
    FORBIDDEN,
    IS_ACCEPTED,
    IS_FORBIDDEN,
    IS_NOT_SENT,
    IS_REJECTED,
    IS_SETTLED,
    IS_UNKNOWN,
    OK,
    SENDING,
    UNKNOWN,
    UNSENT,
    PayoutWorld,
    asking,
)
from tests.world.standing import Clock
from tests.world.waiting import until


def calls_of(payout_world: PayoutWorld) -> list[str]:
    """Record the calls to the store from now on; a caller that waits calls ``find`` again."""
    calls: list[str] = []
    payout_world.store.on_call = calls.append
    return calls


ANSWERS = [
    (IS_ACCEPTED, OK),
    (IS_SETTLED, OK),
    (IS_REJECTED, BAD),
    (IS_FORBIDDEN, FORBIDDEN),
    (IS_NOT_SENT, UNSENT),
    (IS_UNKNOWN, DOUBT),
]


@pytest.mark.parametrize(("said", "answer"), ANSWERS, ids=lambda each: str(each)[:12])
async def test_twenty_concurrent_repeats_are_one_payout_with_one_answer(
    payout_world: PayoutWorld, said: Outcome, answer: str
):
    """On one node and on two: later callers wait and get the first one's answer."""
    payout_world.bank.gate.clear()
    payout_world.bank.says = [said]
    other, calls = payout_world.beside(), calls_of(payout_world)
    other.store.on_call = calls.append
    posting = [asyncio.ensure_future(node.post()) for node in [payout_world, other] * 10]
    await until(lambda: calls.count("find") >= 40)

    payout_world.bank.gate.set()

    assert await asyncio.gather(*posting) == [answer] * 20
    assert len(payout_world.bank.orders) == 1
    assert len(await payout_world.attempts()) == 1


async def test_twenty_concurrent_references_are_twenty_payouts(payout_world: PayoutWorld):
    answers = await asyncio.gather(*(payout_world.post(asking(f"order-{n}")) for n in range(20)))

    assert answers == [OK] * 20
    assert len({order.provider_key for order in payout_world.bank.orders}) == 20


async def test_of_two_contents_under_one_reference_one_is_paid(payout_world: PayoutWorld):
    other = asking(value=Money(999))

    answers = await asyncio.gather(*(payout_world.post(r) for r in [asking(), other] * 5))

    assert sorted(set(answers)) == [OK, BAD]
    assert len(payout_world.bank.orders) == 1
    assert (await payout_world.row()).value == payout_world.bank.orders[0].value


async def test_a_repeat_waits_at_most_five_seconds_for_a_slow_send(
    payout_world: PayoutWorld, clock: Clock
):
    """The repeat is then answered as processing, which is true."""
    payout_world.bank.gate.clear()
    winner = asyncio.ensure_future(payout_world.post())
    await until(lambda: len(payout_world.bank.orders) > 0)
    started, clock.step_s = clock.up_s, 1.0

    assert await payout_world.post() == OK

    assert 5 <= clock.up_s - started <= 8
    assert (await payout_world.row()).state is SENDING
    payout_world.bank.gate.set()
    assert await winner == OK


async def test_a_repeat_stops_waiting_when_the_sender_s_lease_ends(
    payout_world: PayoutWorld, clock: Clock
):
    """The sender is gone, so waiting has no use."""
    await payout_world.stands(SENDING)
    clock.passes(59)
    calls = calls_of(payout_world)
    waiting = asyncio.ensure_future(payout_world.post())
    await until(lambda: calls.count("find") >= 2)

    clock.passes(1)

    assert await waiting == OK
    assert (await payout_world.row()).state is UNKNOWN


async def going(payout_world: PayoutWorld) -> asyncio.Future[str]:
    """A payout that the bank has been asked for and does not answer."""
    payout_world.bank.gate.clear()
    posting = asyncio.ensure_future(payout_world.post())
    await until(lambda: len(payout_world.bank.orders) > 0)
    return posting


async def test_a_call_interrupted_by_a_shutdown_is_unknown(payout_world: PayoutWorld, clock: Clock):
    """During a shutdown: the bank may have received everything."""
    posting = await going(payout_world)

    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting

    row = await payout_world.row()
    [attempt] = await payout_world.attempts()
    assert (row.state, attempt.outcome) == (UNKNOWN, UNKNOWN)
    assert attempt.evidence is not None
    assert attempt.evidence.reason == "cancelled"
    assert await payout_world.post() == OK
    assert len(payout_world.bank.orders) == 1


@pytest.mark.parametrize(
    ("said", "state"),
    [(IS_ACCEPTED, PayoutState.ACCEPTED), (IS_REJECTED, PayoutState.REJECTED)],
    ids=["accepted", "rejected"],
)
async def test_a_call_cancelled_while_its_outcome_is_stored_keeps_the_outcome(
    payout_world: PayoutWorld, said: Outcome, state: PayoutState
):
    """With the bank's id, by which alone some banks find a payout."""
    payout_world.bank.says = [said]
    payout_world.store.held = {"record": asyncio.Event()}
    calls = calls_of(payout_world)
    posting = asyncio.ensure_future(payout_world.post())
    await until(lambda: "record" in calls)

    posting.cancel()
    payout_world.store.held["record"].set()
    with pytest.raises(asyncio.CancelledError):
        await posting

    assert (await payout_world.row()).state is state


async def test_a_second_cancellation_does_not_lose_the_outcome(payout_world: PayoutWorld):
    posting = await going(payout_world)
    payout_world.store.held = {"record": asyncio.Event()}
    calls = calls_of(payout_world)
    posting.cancel()
    await until(lambda: "record" in calls)

    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting
    payout_world.store.held["record"].set()

    async def recorded() -> bool:
        return (await payout_world.row()).state is UNKNOWN

    await until(recorded)


async def test_a_call_cancelled_without_a_store_is_cancelled(payout_world: PayoutWorld):
    """An unrecorded call is found by its lease."""
    posting = await going(payout_world)
    payout_world.store.fails_before = {"record"}

    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting

    assert (await payout_world.row()).state is SENDING


async def test_a_waiting_repeat_can_be_cancelled_without_effect(payout_world: PayoutWorld):
    """It owns nothing; the sender continues."""
    winner = await going(payout_world)
    calls = calls_of(payout_world)
    second = asyncio.ensure_future(payout_world.post())
    await until(lambda: calls.count("find") >= 2)

    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    payout_world.bank.gate.set()

    assert await winner == OK
    assert (await payout_world.row()).state is ACCEPTED


async def test_a_status_query_during_a_send_changes_nothing(payout_world: PayoutWorld):
    winner = await going(payout_world)

    found = await payout_world.look()

    assert found.state is SENDING
    assert payout_world.bank.lookups == []
    payout_world.bank.gate.set()
    assert await winner == OK


async def test_a_sender_that_resumes_after_its_lease_records_the_outcome(
    payout_world: PayoutWorld, clock: Clock
):
    """It was considered unknown meanwhile; its late answer still belongs to that attempt."""

    async def sleeps(_order: PayoutOrder) -> None:
        clock.passes(90)
        assert (await payout_world.beside().look()).state is UNKNOWN

    payout_world.bank.on_order = sleeps

    assert await payout_world.post() == OK
    assert (await payout_world.row()).state is ACCEPTED
    assert payout_world.lost == []
