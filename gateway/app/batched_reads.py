"""
Reading many records by one statement: those that are asked for in the same turn of the loop.

A look-up by itself costs a connection, a hop to a thread or a server, and a statement; in a
batch its part of them is small. While two statements are under way the next batch fills.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from gateway.core.storage import StoreUnavailable

Key = TypeVar("Key")
Found = TypeVar("Found")
Record = TypeVar("Record")

_UNDER_WAY: Final = 2
"""Statements at once: one is answered by the store while the other's rows are read here."""
_MOST: Final = 500
"""Keys in one statement; what its rows cost stands in the way of everything else on the loop."""

Clock = Callable[[], float]
Batch = Mapping[str, asyncio.Future[Record | None]]
"""Those who wait, by key."""


class Bounded(Generic[Key, Found]):
    """
    Reads with a bound in time; too slow is ``StoreUnavailable`` like every other failure.

    A reading that is given up is cancelled and not waited for: a driver may take
    seconds to let go of a server that is silent.
    """

    def __init__(self, load: Callable[[Key], Coroutine[Any, Any, Found]]) -> None:
        """Read by ``load``."""
        self._load = load
        self._given_up: set[asyncio.Task[Found]] = set()

    async def read(self, key: Key, seconds: float) -> Found:
        """Read; raises StoreUnavailable when it took longer than so many seconds."""
        task = asyncio.create_task(self._load(key))  # noqa: TID251 - awaited here, or cancelled and kept
        try:
            done, _ = await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                self._given_up.add(task)
                task.add_done_callback(self._ended)
                task.cancel()
        if not done:
            raise StoreUnavailable(self._load.__qualname__)
        return task.result()

    def _ended(self, task: asyncio.Task[Found]) -> None:
        """Let go of a reading that was given up."""
        self._given_up.discard(task)
        if not task.cancelled():
            task.exception()


class BatchedReads(Generic[Record]):
    """
    Reads records by key; keys of the same turn share a statement.

    Nobody waits longer than the bound, the time before the statement included.
    """

    def __init__(
        self,
        load: Callable[[Sequence[str]], Coroutine[Any, Any, Mapping[str, Record]]],
        seconds: float,
        clock: Clock = time.monotonic,
    ) -> None:
        """
        Read nothing yet.

        Args:
            load: Reads the records of several keys; absent ones are left out.
            seconds: The longest that anybody waits.
            clock: Of the bound.
        """
        self._load = Bounded(load)
        self._seconds = seconds
        self._clock = clock
        self._next: dict[str, asyncio.Future[Record | None]] = {}
        self._next_since = 0.0
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_due = False

    def read(self, key: str) -> asyncio.Future[Record | None]:
        """
        Return what will be read of a key by a statement that has not begun yet.

        None of a record that is not there; StoreUnavailable when the store does not answer.
        """
        waiting = self._next.get(key)
        if waiting is not None:
            return waiting
        loop = asyncio.get_running_loop()
        if not self._next:
            self._next_since = self._clock()
        waiting = self._next[key] = loop.create_future()
        if not self._is_due and len(self._under_way) < _UNDER_WAY:
            self._is_due = True
            loop.call_soon(self._begin)
        return waiting

    def _begin(self) -> None:
        """Read what has gathered, as far as there may be another statement."""
        self._is_due = False
        while self._next and len(self._under_way) < _UNDER_WAY:
            batch = dict(list(self._next.items())[:_MOST])
            for key in batch:
                del self._next[key]
            task = asyncio.get_running_loop().create_task(self._read(batch, self._next_since))
            self._under_way.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Go on with what has gathered meanwhile."""
        self._under_way.discard(task)
        if task.cancelled():  # the process ends
            for waiting in self._next.values():
                waiting.cancel()
            return
        self._begin()

    async def _read(self, batch: Batch[Record], since: float) -> None:
        """Read one batch; whoever waits is told, or the process ends."""
        try:
            await self._tell(batch, since)
        finally:
            for waiting in batch.values():
                waiting.cancel()  # only where this task was cancelled is anybody left

    async def _tell(self, batch: Batch[Record], since: float) -> None:
        """Tell all who wait what was found, or the failure."""
        try:
            found = await self._load.read(list(batch), self._left_s(since))
        except Exception as problem:  # noqa: BLE001 - whatever it is, those who wait are told
            if len(batch) > 1 and self._left_s(since):
                # one of them may be the cause: a row that cannot be read harms nobody else
                for key, waiting in batch.items():
                    await self._tell({key: waiting}, since)
                return
            for key in _of_those_left(batch):
                batch[key].set_exception(problem)
        else:
            for key in _of_those_left(batch):
                batch[key].set_result(found.get(key))

    def _left_s(self, since: float) -> float:
        """Return the seconds that a batch has left."""
        return max(0.0, since + self._seconds - self._clock())


def _of_those_left(batch: Batch[Record]) -> Iterable[str]:
    """Return the keys for which somebody still waits."""
    return [key for key, waiting in batch.items() if not waiting.done()]
