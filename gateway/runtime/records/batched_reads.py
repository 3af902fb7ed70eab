"""
Reading many records by one statement: those that are asked for at the same time.

A look-up by itself costs a connection, a hop to a thread or a server, and a statement; in a
batch its part of them is small. While two statements are under way the next batch fills.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.store.kernel.batching import BatchLimits, BatchQueue
from gateway.store.kernel.database import failures_as_ours

Key = TypeVar("Key")
Found = TypeVar("Found")
Record = TypeVar("Record")

_UNDER_WAY: Final = 2
"""Statements at once: one is answered by the store while the other's rows are read here."""
_MOST: Final = 500
"""Keys in one statement; what its rows cost stands in the way of everything else on the loop."""


@dataclass(frozen=True, slots=True)
class _Answer(Generic[Record]):
    """What was read of one key: a record, that there is none, or why it cannot be read."""

    record: Record | None
    problem: Exception | None = None


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
    Reads records by key; keys that are asked for while two statements run share the next.

    Nobody waits longer than the bound, the time before the statement included.
    """

    def __init__(
        self,
        load: Callable[[Sequence[str]], Coroutine[Any, Any, Mapping[str, Record]]],
        seconds: float,
    ) -> None:
        """
        Read nothing yet.

        Args:
            load: Reads the records of several keys; absent ones are left out.
            seconds: The longest that anybody waits.
        """
        self._load = Bounded(load)
        self._seconds = seconds
        limits = BatchLimits(count=_UNDER_WAY, most=_MOST, queue_s=seconds, whole_s=seconds)
        self._queue: BatchQueue[str, _Answer[Record]] = BatchQueue(self._read, limits)

    def read(self, key: str) -> asyncio.Task[Record | None]:
        """
        Return what will be read of a key by a statement that has not begun yet.

        None of a record that is not there; StoreUnavailable when the store does not answer.
        """
        return asyncio.create_task(self._asked(key))  # noqa: TID251 - ends within the bound

    async def _asked(self, key: str) -> Record | None:
        with failures_as_ours():
            answer = await self._queue.ask(key)
        if answer.problem is not None:
            raise answer.problem
        return answer.record

    async def _read(self, keys: Sequence[str]) -> Sequence[_Answer[Record] | None]:
        """Read one batch; one of many may be a row that cannot be read, so each is read alone."""
        try:
            found = await self._load.read(keys, self._seconds)
        except StoreUnavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - whatever it is, those who wait are told
            return [None] * len(keys) if len(keys) > 1 else [_Answer(None, problem)]
        return [_Answer(found.get(key)) for key in keys]
