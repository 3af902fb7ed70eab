"""Items arriving during a batch wait for the next; none is delayed, lost or mixed up."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar

import pytest

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.batching import BatchLimits, BatchQueue, Undone
from tests.world.leaping import leaping
from tests.world.waiting import settle

ASKER: ContextVar[str] = ContextVar("asker", default="nobody")


class Work:
    """Work that takes as long as its gate is closed, and doubles numbers."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.askers: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails: Exception | None = None
        self.most_at_once = self.at_once = 0

    async def do(self, items: Sequence[int]) -> Sequence[int]:
        self.seen.append(list(items))
        self.askers.append(ASKER.get())
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        finally:
            self.at_once -= 1
        if self.fails is not None:
            raise self.fails
        return [2 * item for item in items]

    async def begun(self, batches: int) -> None:
        """Wait until so many batches are or were at work."""
        while len(self.seen) < batches:
            await asyncio.sleep(0)


@pytest.fixture
def work() -> Work:
    """Work that is done at once."""
    return Work()


def asked(batches: BatchQueue[int, int], items: Sequence[int]) -> list[asyncio.Task[int]]:
    return [asyncio.create_task(batches.ask(item)) for item in items]


async def held(batches: BatchQueue[int, int], work: Work) -> asyncio.Task[int]:
    """Have one batch at work, until the gate is opened."""
    work.gate.clear()
    first = asyncio.create_task(batches.ask(0))
    await work.begun(1)
    return first


async def test_a_single_item_is_served_at_once(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))

    assert [await batches.ask(1), await batches.ask(2)] == [2, 4]
    assert work.seen == [[1], [2]]


async def test_items_asked_together_share_a_batch_and_get_their_own_answers(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))

    answers = await asyncio.gather(*asked(batches, range(5)))

    assert answers == [0, 2, 4, 6, 8]
    assert work.seen == [[0, 1, 2, 3, 4]]


async def test_items_that_arrive_during_a_batch_are_queued_in_order(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))
    first = await held(batches, work)
    late = asked(batches, [5, 3, 4])
    await settle()

    work.gate.set()
    answers = await asyncio.gather(first, *late)

    assert answers == [0, 10, 6, 8]
    assert work.seen == [[0], [5, 3, 4]]


async def test_a_batch_has_a_maximum_size(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1, most=2))

    await asyncio.gather(*asked(batches, range(5)))

    assert work.seen == [[0, 1], [2, 3], [4]]


@leaping
async def test_one_lane_never_runs_two_batches_at_once(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1, relief_s=0))
    first = await held(batches, work)
    late = asked(batches, [1])
    await asyncio.sleep(1)

    work.gate.set()
    await asyncio.gather(first, *late)

    assert work.most_at_once == 1


@leaping
async def test_items_waiting_behind_a_slow_batch_get_another_lane(work: Work) -> None:
    """So a hanging batch does not delay the rest."""
    batches = BatchQueue(work.do, BatchLimits(count=3, most=2, relief_s=0.002))
    first = await held(batches, work)

    late = asked(batches, range(1, 7))
    await asyncio.sleep(1)

    assert work.seen == [[0], [1, 2], [3, 4]]
    work.gate.set()
    assert await asyncio.gather(first, *late) == [0, 2, 4, 6, 8, 10, 12]
    assert work.most_at_once == 3


async def test_a_failure_reaches_only_its_own_batch(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))
    work.fails = StoreUnavailable("gone")

    failed = await asyncio.gather(*asked(batches, [1, 2]), return_exceptions=True)
    work.fails = None

    assert [str(each) for each in failed] == ["gone", "gone"]
    assert failed[0] is not failed[1]
    assert await batches.ask(3) == 6


async def test_an_error_in_the_work_fails_every_item(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))
    work.fails = KeyError("a mistake")

    with pytest.raises(StoreUnavailable, match="KeyError"):
        await batches.ask(1)


@pytest.mark.parametrize("too_few", [[], [1]])
async def test_missing_answers_fail_their_items(too_few: list[int]) -> None:
    async def forget(_items: Sequence[int]) -> Sequence[int]:
        return too_few

    batches = BatchQueue(forget, BatchLimits(count=1))

    told = await asyncio.gather(*asked(batches, [1, 2]), return_exceptions=True)

    assert isinstance(told[1], StoreUnavailable)


async def test_an_item_cancelled_while_queued_is_not_worked_on(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))
    first = await held(batches, work)
    gone, stays = asked(batches, [1, 2])
    await asyncio.sleep(0)
    gone.cancel()

    work.gate.set()
    answers = await asyncio.gather(first, gone, stays, return_exceptions=True)

    assert work.seen == [[0], [2]]
    assert isinstance(answers[1], asyncio.CancelledError)
    assert answers[2] == 4


async def test_an_item_cancelled_during_its_batch_leaves_the_rest_alone(work: Work) -> None:
    """It ends at once, and the batch continues."""
    batches = BatchQueue(work.do, BatchLimits(count=1))
    work.gate.clear()
    gone, stays = asked(batches, [1, 2])
    await work.begun(1)

    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    work.gate.set()

    assert await stays == 4
    assert work.seen == [[1, 2]]


@leaping
async def test_an_item_that_times_out_in_the_queue_is_refused_and_not_worked_on(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1, queue_s=0.02))
    first = await held(batches, work)

    with pytest.raises(TimeoutError):
        await batches.ask(1)
    work.gate.set()
    await first

    assert await batches.ask(2) == 4
    assert work.seen == [[0], [2]]


@leaping
async def test_the_queue_timeout_ends_when_the_work_begins(work: Work) -> None:
    """The work has its own time limit."""
    batches = BatchQueue(work.do, BatchLimits(count=1, queue_s=0.02))
    first = await held(batches, work)
    await asyncio.sleep(1)

    work.gate.set()

    assert await first == 0


async def test_work_runs_in_no_caller_s_context(work: Work) -> None:
    """Otherwise a whole batch would be logged with the trace of its first item."""
    batches = BatchQueue(work.do, BatchLimits(count=1))
    ASKER.set("somebody")

    await batches.ask(1)

    assert work.askers == ["nobody"]


async def test_closing_finishes_queued_items_and_refuses_later_ones(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))
    first = await held(batches, work)
    late = asked(batches, [1, 2])
    await asyncio.sleep(0)

    closing = asyncio.create_task(batches.close())
    await asyncio.sleep(0)
    with pytest.raises(StoreUnavailable, match="closed"):
        await batches.ask(3)
    work.gate.set()
    await closing

    assert [each.result() for each in (first, *late)] == [0, 2, 4]


async def test_closing_an_idle_or_closed_queue_does_nothing(work: Work) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1))

    await batches.close()
    await batches.close()

    assert work.seen == []


async def before_its_first_step(batches: BatchQueue[int, int]) -> None:
    """Cancel the workers, as the end of a loop does."""
    for lane in set(batches._workers):
        lane.cancel()
    await asyncio.sleep(0)


async def amid_its_work(batches: BatchQueue[int, int]) -> None:
    await asyncio.sleep(0)
    await before_its_first_step(batches)


@pytest.mark.parametrize("end", [before_its_first_step, amid_its_work])
async def test_a_cancelled_worker_fails_only_its_own_batch_and_is_replaced(
    work: Work, end: Callable[[BatchQueue[int, int]], Awaitable[None]]
) -> None:
    batches = BatchQueue(work.do, BatchLimits(count=1, most=1))
    asking = asked(batches, [1, 2, 3])
    await asyncio.sleep(0)

    await end(batches)
    told = await asyncio.gather(*asking, return_exceptions=True)

    assert told[1:] == [4, 6]
    assert told[0] == 2 or isinstance(told[0], StoreUnavailable)


async def test_an_undecided_item_is_worked_on_alone(work: Work) -> None:
    """``work`` returned None for it, so nothing was done."""

    async def undecided(items: Sequence[int]) -> Sequence[int | None]:
        done = await work.do(items)
        return [None if len(items) > 1 and item == 2 else 2 * item for item in items][: len(done)]

    queue = BatchQueue(undecided, BatchLimits(count=1))

    assert await asyncio.gather(*asked(queue, [1, 2, 3])) == [2, 4, 6]
    assert work.seen == [[1, 2, 3], [2]]


async def test_an_undone_batch_is_worked_on_item_by_item(work: Work) -> None:
    async def undone(items: Sequence[int]) -> Sequence[int]:
        done = await work.do(items)
        if len(items) > 1:
            raise Undone
        return done

    queue = BatchQueue(undone, BatchLimits(count=1))

    assert await asyncio.gather(*asked(queue, [1, 2, 3])) == [2, 4, 6]
    assert work.seen == [[1, 2, 3], [1], [2], [3]]


async def test_an_item_undecided_even_alone_is_a_failure() -> None:
    async def undecided(items: Sequence[int]) -> Sequence[int | None]:
        return [None] * len(items)

    queue = BatchQueue(undecided, BatchLimits(count=1))

    with pytest.raises(StoreUnavailable, match="undecided"):
        await queue.ask(1)
