"""Work for a key is done once at a time."""

from __future__ import annotations

import asyncio

import pytest

from gateway.core.single_flight import SingleFlight


class Work:
    """Work that waits for its gate; counts how often it began and was cancelled."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.began = 0
        self.cancelled = 0
        self.fails: Exception | None = None

    async def __call__(self) -> int:
        self.began += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fails is not None:
            raise self.fails
        return self.began


async def several(flights: SingleFlight[int], work: Work, *keys: str) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(flights.do(key, work)) for key in keys]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_concurrent_callers_of_a_key_share_one_result():
    flights, work = SingleFlight[int](), Work()
    waiting = await several(flights, work, "a", "a", "a")

    work.gate.set()

    assert await asyncio.gather(*waiting) == [1, 1, 1]
    assert work.began == 1


async def test_different_keys_run_separately():
    flights, work = SingleFlight[int](), Work()
    waiting = await several(flights, work, "a", "b")

    work.gate.set()
    await asyncio.gather(*waiting)

    assert work.began == 2


async def test_a_call_after_the_end_starts_again():
    flights, work = SingleFlight[int](), Work()
    work.gate.set()

    assert [await flights.do("a", work), await flights.do("a", work)] == [1, 2]


async def test_a_failure_reaches_every_caller_and_is_not_kept():
    flights, work = SingleFlight[int](), Work()
    work.fails = ValueError("bank")
    waiting = await several(flights, work, "a", "a")

    work.gate.set()
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    work.fails = None

    assert ended == [work.fails or ended[0]] * 2
    assert isinstance(ended[0], ValueError)
    assert await flights.do("a", work) == 2


@pytest.mark.parametrize("left", [1, 2])
async def test_the_work_is_cancelled_with_its_last_caller(left: int):
    flights, work = SingleFlight[int](), Work()
    waiting = await several(flights, work, "a", "a")

    for task in waiting[:left]:
        task.cancel()
    await asyncio.gather(*waiting[:left], return_exceptions=True)
    stopped = work.cancelled
    work.gate.set()
    await asyncio.gather(*waiting, return_exceptions=True)

    assert stopped == (1 if left == 2 else 0)
    assert await flights.do("a", work) == 2
