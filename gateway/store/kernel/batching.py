"""
Group commit: work that costs as much for many items as for one is done in batches.

While a batch is at work, new items gather for the following one. Nothing waits to fill a
batch: an item that comes alone is worked on alone, at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Generic, TypeVar

from sqlalchemy.exc import DBAPIError, StatementError

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.database import FAILURES, quotes_the_row

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# Of PostgreSQL: met another's lock for too long, or in a ring of waiting transactions.
_MET_ANOTHER = ("40", "55P03", "57014")


class Undone(Exception):
    """A transaction was rolled back before its commit was sent: nothing of it is stored."""


@contextmanager
def faults_of_rows(of: int, *, commits: bool = False) -> Iterator[None]:
    """
    Convert a failure that one of many rows may have caused to ``Undone``; one row just fails.

    For statements inside a transaction alone, never for its commit. A row that is refused, or that
    another transaction locks for too long, is such a cause; a lost server is not. A statement that
    ``commits`` is undone where the server has refused it; one that was given up may have been done.
    """
    try:
        yield
    except FAILURES as problem:
        was_given_up = commits and isinstance(problem, TimeoutError)
        if of > 1 and _may_be_of_a_row(problem) and not was_given_up:
            raise Undone from None
        raise


def _may_be_of_a_row(problem: Exception) -> bool:
    if isinstance(problem, TimeoutError) or quotes_the_row(problem):
        return True
    if not isinstance(problem, DBAPIError):
        # a value that cannot be sent
        return isinstance(problem, StatementError)
    return str(getattr(problem.orig, "sqlstate", "")).startswith(_MET_ANOTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """
    Limits of batches: number, size and waiting time.

    Attributes:
        count: Batches at work at once, at most.
        most: Items of a batch, at most. What a batch saves per item hardly grows beyond 64, while
            all of its items wait for the last.
        relief_s: Seconds. While ``count`` allows, another batch starts beside a busy one once an
            item has waited this long: longer than a commit on a fast disk, so that items gather,
            and little beside one on a slow disk.
        queue_s: Seconds. An item that has waited this long for its turn is refused; nothing of it
            was done.
        whole_s: Seconds. No caller waits longer for an answer, finished or not.
    """

    count: int
    most: int = 64
    relief_s: float = 0.002
    queue_s: float = 2.0
    whole_s: float = 10.0


@dataclass(slots=True, eq=False)
class _Waiting(Generic[Item, Answer]):
    """A waiting caller; its turn has come when its batch begins."""

    item: Item
    answer: asyncio.Future[Answer | None]
    has_begun: bool = False

    def give_up(self) -> None:
        """Wait no longer for a turn that has not come."""
        if not self.has_begun and not self.answer.done():
            self.answer.set_exception(TimeoutError())

    def resolve(self, answer: Answer | None) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, problem: BaseException) -> None:
        """Raise a copy of the exception: one raised twice would grow a longer traceback."""
        if self.answer.done():
            return
        known = problem if isinstance(problem, StoreUnavailable) else None
        own = StoreUnavailable(str(known or type(problem).__name__))
        own.__cause__ = known.__cause__ if known else problem
        own.__suppress_context__ = True
        self.answer.set_exception(own)
        # Mark it as retrieved: the caller may be gone, and asyncio would log it.
        self.answer.exception()


class BatchQueue(Generic[Item, Answer]):
    """
    Passes items to ``work`` in batches, in order, and returns each caller's own answer.

    ``work`` returns an answer per item, in order. None says that nothing was done for the item and
    that it must be worked on alone; so does ``Undone`` for a whole batch. Any other error is
    raised as ``StoreUnavailable`` to every caller of the batch, and nothing is tried again. A batch
    runs in the context of the queue's creator: cancelling one caller does not touch the others.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Awaitable[Sequence[Answer | None]]],
        limits: BatchLimits,
    ) -> None:
        self._work, self._limits = work, limits
        self._queue: deque[_Waiting[Item, Answer]] = deque()
        self._workers: set[asyncio.Task[None]] = set()
        self._relief: asyncio.TimerHandle | None = None
        self._context = copy_context()
        self._closed = False

    async def ask(self, item: Item) -> Answer:
        """
        Process an item, with others or alone, and return its answer.

        Raises:
            StoreUnavailable: the work failed, or the queue is closed.
            TimeoutError: its turn did not come, and it was not begun; or ``whole_s`` are over.
        """
        async with asyncio.timeout(self._limits.whole_s):
            answer = await self._answer(item)
            if answer is None:
                # In the caller's own task: a row that is held for long delays no batch.
                [answer] = await self._work([item])
        if answer is None:
            problem = "undecided"
            raise StoreUnavailable(problem)
        return answer

    async def close(self) -> None:
        """Finish pending items; refuse later ones."""
        self._closed = True
        while self._workers:
            await asyncio.wait(set(self._workers))
        if self._relief is not None:
            self._relief.cancel()

    async def _answer(self, item: Item) -> Answer | None:
        if self._closed:
            problem = "closed"
            raise StoreUnavailable(problem)
        loop = asyncio.get_running_loop()
        waiting: _Waiting[Item, Answer] = _Waiting(item, loop.create_future())
        self._queue.append(waiting)
        turn = loop.call_later(self._limits.queue_s, waiting.give_up)
        self._ensure_worker()
        try:
            return await waiting.answer
        finally:
            turn.cancel()

    def _ensure_worker(self) -> None:
        """Start a worker, or check later whether another one is needed."""
        if not self._workers:
            self._start_worker()
        elif self._relief is None and len(self._workers) < self._limits.count:
            loop = asyncio.get_running_loop()
            self._relief = loop.call_later(
                self._limits.relief_s, self._relieve, context=self._context
            )

    def _relieve(self) -> None:
        self._relief = None
        if self._queue and len(self._workers) < self._limits.count:
            self._start_worker()

    def _start_worker(self) -> None:
        loop = asyncio.get_running_loop()
        worker = loop.create_task(self._serve(), name="store batches", context=self._context)
        self._workers.add(worker)
        worker.add_done_callback(self._on_worker_end)

    async def _serve(self) -> None:
        """Process batch after batch until the queue is empty."""
        while batch := self._next():
            if self._queue:
                self._ensure_worker()
            await self._serve_batch(batch)

    def _on_worker_end(self, worker: asyncio.Task[None]) -> None:
        """Start another worker for late items, or if the worker was killed."""
        self._workers.discard(worker)
        if not self._workers and any(not waiting.answer.done() for waiting in self._queue):
            self._start_worker()

    def _next(self) -> Sequence[_Waiting[Item, Answer]]:
        batch: list[_Waiting[Item, Answer]] = []
        while self._queue and len(batch) < self._limits.most:
            waiting = self._queue.popleft()
            if not waiting.answer.done():
                waiting.has_begun = True
                batch.append(waiting)
        return batch

    async def _serve_batch(self, batch: Sequence[_Waiting[Item, Answer]]) -> None:
        try:
            answers = await self._work([waiting.item for waiting in batch])
            for waiting, answer in zip(batch, answers, strict=True):
                waiting.resolve(answer)
        except Undone:
            for waiting in batch:
                waiting.resolve(None)
        except BaseException as problem:
            # Whatever it is: every caller must learn that this is not known to be done.
            for waiting in batch:
                waiting.fail(problem)
            if not isinstance(problem, Exception):
                raise
