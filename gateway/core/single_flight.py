"""Work that runs once at a time for a key; concurrent callers share the result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


@dataclass(slots=True)
class _Run(Generic[Value]):
    """Work under way, and how many wait for it."""

    task: asyncio.Task[Value]
    waiting: int = 0


class SingleFlight(Generic[Value]):
    """
    Runs work by key, within one process.

    A cancelled caller does not stop the others; when the last one is cancelled, so is the work. A
    failure reaches all callers, and the next caller starts again.
    """

    def __init__(self) -> None:
        self._runs: dict[str, _Run[Value]] = {}

    async def do(self, key: str, work: Callable[[], Coroutine[Any, Any, Value]]) -> Value:
        """Return the result of ``work``, or of a run of ``key`` under way; its errors, too."""
        run = self._runs.get(key) or self._begin(key, work())
        run.waiting += 1
        try:
            return await asyncio.shield(run.task)
        finally:
            run.waiting -= 1
            if not run.waiting:
                await self._end(key, run)

    def _begin(self, key: str, work: Coroutine[Any, Any, Value]) -> _Run[Value]:
        task = asyncio.create_task(work)  # noqa: TID251 - the last caller that waits ends it
        run = self._runs[key] = _Run(task)
        return run

    async def _end(self, key: str, run: _Run[Value]) -> None:
        if self._runs.get(key) is run:
            del self._runs[key]
        if not run.task.done():
            run.task.cancel()
            await asyncio.wait([run.task])
