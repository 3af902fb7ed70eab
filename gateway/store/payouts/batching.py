"""
Work that costs as much for many as for one: while it runs, what comes next gathers.

Nobody waits for company: who comes alone is served alone, at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, TypeVar

from gateway.domain.kernel.storage import StoreUnavailable

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """
    How many batches may run at once, and how long anything waits for its turn.

    Attributes:
        count: BatchQueue at work at once, at most.
        most: Items of a batch, at most.
        relief_s: What has waited this long beside a batch at work gets a lane of its own, while
            there is one.
        queue_s: What has waited this long for its turn is refused: certainly not done.
    """

    count: int
    most: int = 64
    relief_s: float = 0.002
    queue_s: float = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting(Generic[Item, Answer]):
    """Somebody who waits; the patience is for the queue and ends with it."""

    item: Item
    told: asyncio.Future[Answer]
    patience: asyncio.Timeout

    def begin(self) -> None:
        self.patience.reschedule(None)

    def tell(self, told: Answer) -> None:
        if not self.told.done():
            self.told.set_result(told)

    def fail(self, problem: BaseException) -> None:
        """Raise an exception of its own there: raised twice, one would grow with each."""
        if self.told.done():
            return
        said = problem if isinstance(problem, StoreUnavailable) else None
        own = StoreUnavailable(str(said or type(problem).__name__))
        own.__cause__ = said.__cause__ if said else problem
        own.__suppress_context__ = True
        self.told.set_exception(own)
        self.told.exception()  # heard of, even if nobody waits any more


class BatchQueue(Generic[Item, Answer]):
    """
    Gives items to ``work`` in batches, in the order they came, and each asker its own answer.

    ``work`` answers for every item in turn; what it raises is raised as ``StoreUnavailable`` to
    all who are in that batch. It runs in the context this was made in, never in one asker's:
    an asker that is cancelled goes alone.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Awaitable[Sequence[Answer]]], lanes: BatchLimits
    ) -> None:
        self._work, self._terms = work, lanes
        self._queue: deque[_Waiting[Item, Answer]] = deque()
        self._lanes: set[asyncio.Task[None]] = set()
        self._relief: asyncio.TimerHandle | None = None
        self._context = copy_context()
        self._closed = False

    async def ask(self, item: Item) -> Answer:
        """
        Have an item worked on and return what was told of it.

        Raises:
            StoreUnavailable: the work failed, or closed already.
            TimeoutError: its turn did not come; it was not begun.
        """
        if self._closed:
            problem = "closed"
            raise StoreUnavailable(problem)
        told: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        async with asyncio.timeout(self._terms.queue_s) as patience:
            self._queue.append(_Waiting(item, told, patience))
            self._attend()
            return await told

    async def close(self) -> None:
        """Finish what was asked so far; refuse what is asked from now on."""
        self._closed = True
        while self._lanes:
            await asyncio.wait(set(self._lanes))
        if self._relief is not None:
            self._relief.cancel()

    def _attend(self) -> None:
        """See to it that whoever waits is served."""
        if not self._lanes:
            self._open()
        elif self._relief is None and len(self._lanes) < self._terms.count:
            loop = asyncio.get_running_loop()
            self._relief = loop.call_later(
                self._terms.relief_s, self._relieve, context=self._context
            )

    def _relieve(self) -> None:
        self._relief = None
        if self._queue and len(self._lanes) < self._terms.count:
            self._open()

    def _open(self) -> None:
        loop = asyncio.get_running_loop()
        lane = loop.create_task(self._serve(), name="store batches", context=self._context)
        self._lanes.add(lane)
        lane.add_done_callback(self._ended)

    async def _serve(self) -> None:
        """Work batch after batch while anybody waits."""
        while batch := self._next():
            if self._queue:
                self._attend()
            await self._do(batch)

    def _ended(self, lane: asyncio.Task[None]) -> None:
        """Open another for who came after it had looked for the last time, or if it was killed."""
        self._lanes.discard(lane)
        if not self._lanes and any(not waiting.told.done() for waiting in self._queue):
            self._open()

    def _next(self) -> Sequence[_Waiting[Item, Answer]]:
        """Take those who wait and still want it."""
        batch: list[_Waiting[Item, Answer]] = []
        while self._queue and len(batch) < self._terms.most:
            waiting = self._queue.popleft()
            if not waiting.told.done():
                waiting.begin()
                batch.append(waiting)
        return batch

    async def _do(self, batch: Sequence[_Waiting[Item, Answer]]) -> None:
        try:
            answers = await self._work([waiting.item for waiting in batch])
            for waiting, told in zip(batch, answers, strict=True):
                waiting.tell(told)
        except BaseException as problem:
            # whatever it is, whoever waits must hear that this is not known to be done
            for waiting in batch:
                waiting.fail(problem)
            if not isinstance(problem, Exception):
                raise
