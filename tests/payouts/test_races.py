"""Many callers, one reference; callers that go away; nodes that stop."""

import asyncio

import pytest

from gateway.domain.bank.payout_orders import PayoutOrder
from gateway.domain.bank.providers import Outcome
from gateway.domain.kernel.money import Money
from tests.payouts.test_rules import until
from tests.unit.paying import (
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
    Till,
    asking,
)
from tests.unit.standing import Clock

ANSWERS = [
    (IS_ACCEPTED, OK),
    (IS_SETTLED, OK),
    (IS_REJECTED, BAD),
    (IS_FORBIDDEN, FORBIDDEN),
    (IS_NOT_SENT, UNSENT),
    (IS_UNKNOWN, DOUBT),
]


@pytest.mark.parametrize(("said", "answer"), ANSWERS, ids=lambda each: str(each)[:12])
async def test_twenty_at_once_are_one_payout_and_one_answer(till: Till, said: Outcome, answer: str):
    """On one node and on two: whoever comes second waits and is told what the first is told."""
    till.bank.gate.clear()
    till.bank.says = [said]
    other = till.beside()
    posting = [asyncio.ensure_future(node.post()) for node in [till, other] * 10]
    await until(lambda: len(till.bank.orders) > 0)

    await asyncio.sleep(0.05)
    till.bank.gate.set()

    assert await asyncio.gather(*posting) == [answer] * 20
    assert len(till.bank.orders) == 1
    assert len(await till.attempts()) == 1


async def test_twenty_references_at_once_are_twenty_payouts(till: Till):
    answers = await asyncio.gather(*(till.post(asking(f"order-{n}")) for n in range(20)))

    assert answers == [OK] * 20
    assert len({order.provider_key for order in till.bank.orders}) == 20


async def test_of_two_contents_at_once_one_wins_and_the_other_is_refused(till: Till):
    other = asking(value=Money(999))

    answers = await asyncio.gather(*(till.post(r) for r in [asking(), other] * 5))

    assert sorted(set(answers)) == [OK, BAD]
    assert len(till.bank.orders) == 1
    assert (await till.row()).value == till.bank.orders[0].value


async def test_a_winner_that_takes_too_long_is_waited_for_five_seconds(till: Till, clock: Clock):
    """Then the repeat is answered: it is processing, and that is true."""
    till.bank.gate.clear()
    winner = asyncio.ensure_future(till.post())
    await until(lambda: len(till.bank.orders) > 0)
    started, clock.step_s = clock.up_s, 1.0

    assert await till.post() == OK

    assert 5 <= clock.up_s - started <= 8
    assert (await till.row()).state is SENDING
    till.bank.gate.set()
    assert await winner == OK


async def test_a_lease_that_ends_ends_the_wait(till: Till, clock: Clock):
    """The winner is gone: a repeat learns no more by waiting."""
    await till.stands(SENDING)
    waiting = asyncio.ensure_future(till.post())
    await asyncio.sleep(0.02)

    clock.passes(60)
    clock.up_s -= 60

    assert await waiting == OK
    assert (await till.row()).state is UNKNOWN


async def going(till: Till) -> asyncio.Future[str]:
    """A payout that the bank has been asked for and does not answer."""
    till.bank.gate.clear()
    posting = asyncio.ensure_future(till.post())
    await until(lambda: len(till.bank.orders) > 0)
    return posting


async def test_a_call_that_is_stopped_is_unknown(till: Till, clock: Clock):
    """A shutdown in the middle of a call: the bank may have heard everything."""
    posting = await going(till)

    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting

    row = await till.row()
    [attempt] = await till.attempts()
    assert (row.state, attempt.outcome) == (UNKNOWN, UNKNOWN)
    assert attempt.evidence is not None
    assert attempt.evidence.reason == "cancelled"
    assert await till.post() == OK
    assert len(till.bank.orders) == 1


async def test_a_second_stop_does_not_undo_the_record(till: Till):
    posting = await going(till)
    till.store.held = {"record": asyncio.Event()}
    posting.cancel()
    await asyncio.sleep(0.01)

    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting
    till.store.held["record"].set()

    async def recorded() -> bool:
        return (await till.row()).state is UNKNOWN

    await until(recorded)


async def test_a_stop_while_the_store_is_away_stays_a_stop(till: Till):
    """What could not be recorded is found by its lease."""
    posting = await going(till)
    till.store.fails_before = {"record"}

    posting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await posting

    assert (await till.row()).state is SENDING


async def test_a_caller_that_waits_for_another_s_payout_may_leave(till: Till):
    """It owns nothing; the winner goes on."""
    winner = await going(till)
    second = asyncio.ensure_future(till.post())
    await asyncio.sleep(0.02)

    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    till.bank.gate.set()

    assert await winner == OK
    assert (await till.row()).state is ACCEPTED


async def test_a_look_beside_a_send_leaves_it_alone(till: Till):
    winner = await going(till)

    found = await till.look()

    assert found.state is SENDING
    assert till.bank.lookups == []
    till.bank.gate.set()
    assert await winner == OK


async def test_a_sender_that_wakes_after_its_lease_records_the_truth(till: Till, clock: Clock):
    """It was taken for unknown meanwhile; its late word is still the word of that attempt."""

    async def sleeps(_order: PayoutOrder) -> None:
        clock.passes(90)
        assert (await till.beside().look()).state is UNKNOWN

    till.bank.on_order = sleeps

    assert await till.post() == OK
    assert (await till.row()).state is ACCEPTED
    assert till.lost == []
