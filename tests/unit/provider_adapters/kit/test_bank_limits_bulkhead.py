"""The bulkhead: so many at once, a few waiting a moment, in order."""

from __future__ import annotations

import asyncio

import pytest

from provider_adapters.kit.bank_limits import Bulkhead
from provider_adapters.kit.limits import BulkheadLimits
from tests.world.leaping import leaping


def narrow(waiting: int = 2, wait_s: float = 0.05) -> tuple[Bulkhead, list[tuple[int, int]]]:
    told: list[tuple[int, int]] = []
    limits = BulkheadLimits(in_flight=2, waiting=waiting, wait_s=wait_s)
    return Bulkhead(limits, lambda calls, limit: told.append((calls, limit))), told


@leaping
async def test_calls_enter_up_to_the_limit_and_are_counted():
    bulkhead, told = narrow(waiting=0)

    entered = [await bulkhead.enter() for _ in range(3)]
    bulkhead.leave()

    assert entered == [True, True, False]
    assert bulkhead.in_flight == 1
    assert told == []


@leaping
async def test_the_number_of_waiting_calls_is_reported_once_after_a_delay():
    """It changes twice with every call, and the figure is read far less often."""
    bulkhead, told = narrow()
    for _ in range(100):
        await bulkhead.enter()
        bulkhead.leave()
    await bulkhead.enter()

    await asyncio.sleep(0.3)

    assert told == [(1, 2)]


@leaping
async def test_a_final_report_is_made_at_once():
    bulkhead, told = narrow()
    await bulkhead.enter()
    bulkhead.leave()

    bulkhead.report()
    await asyncio.sleep(0.3)

    assert told == [(0, 2)]


@leaping
async def test_a_call_that_waits_too_long_is_refused():
    bulkhead, _ = narrow()
    await bulkhead.enter()
    await bulkhead.enter()

    assert not await bulkhead.enter()

    bulkhead.leave()
    assert await bulkhead.enter()


@leaping
async def test_waiting_calls_enter_in_order_and_the_queue_is_bounded():
    bulkhead, _ = narrow(wait_s=5)
    await bulkhead.enter()
    await bulkhead.enter()
    came: list[int] = []

    async def come(number: int) -> bool:
        entered = await bulkhead.enter()
        came.append(number if entered else -number)
        return entered

    async with asyncio.TaskGroup() as tasks:
        for number in (1, 2, 3):
            tasks.create_task(come(number))
        await asyncio.sleep(0)
        bulkhead.leave()
        await asyncio.sleep(0)
        bulkhead.leave()

    assert came == [-3, 1, 2]
    assert bulkhead.in_flight == 2


@leaping
async def test_a_new_call_does_not_overtake_waiting_calls():
    bulkhead, _ = narrow(wait_s=5)
    await bulkhead.enter()
    await bulkhead.enter()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(bulkhead.enter())
        await asyncio.sleep(0)
        bulkhead.leave()
        late = tasks.create_task(bulkhead.enter())
        await asyncio.sleep(0.01)
        assert not late.done()
        bulkhead.leave()

    assert waiting.result()
    assert late.result()


@pytest.mark.parametrize("handed_over", [False, True])
@leaping
async def test_a_cancelled_wait_does_not_lose_its_place(handed_over: bool):
    """Also when it was handed over in the same turn as the cancellation."""
    bulkhead, _ = narrow(wait_s=5)
    await bulkhead.enter()
    await bulkhead.enter()
    waiting = asyncio.create_task(bulkhead.enter())
    await asyncio.sleep(0)

    if handed_over:
        bulkhead.leave()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    assert bulkhead.in_flight == (1 if handed_over else 2)
    bulkhead.leave()
    assert await bulkhead.enter()
