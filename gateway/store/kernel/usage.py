"""How much the database is used: units of work that wait or run, and how long each took."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from gateway.domain.kernel.clocks import Monotonic

OnUsage = Callable[[str, float], None]
"""Called after a unit of work: ``read`` or ``write``, and its seconds."""


class Usage:
    """
    Counts the units of work of one process, on its event loop.

    Attributes:
        waiting: Those without a connection yet.
        in_use: Those that have one.
        on_usage: Called after each unit of work, with its kind and seconds.
    """

    __slots__ = ("clock", "in_use", "on_usage", "waiting")

    def __init__(self, clock: Monotonic = time.perf_counter) -> None:
        """Measure nothing until ``on_usage`` is set."""
        self.clock = clock
        self.waiting = 0
        self.in_use = 0
        self.on_usage: OnUsage = _ignore

    def begin(self, work: str) -> Taking:
        """Count a unit of work from its beginning to the end of the block."""
        return Taking(self, work)


class Taking:
    """One unit of work: it waits until ``got`` is called, and is over with the block."""

    __slots__ = ("_began", "_has", "_usage", "_work")

    def __init__(self, usage: Usage, work: str) -> None:
        self._usage = usage
        self._work = work
        self._has = False
        self._began = 0.0

    def __enter__(self) -> Self:
        """Begin to wait."""
        self._usage.waiting += 1
        self._began = self._usage.clock()
        return self

    def got(self) -> None:
        """Have a connection."""
        self._has = True
        self._usage.waiting -= 1
        self._usage.in_use += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End, however it ended."""
        usage = self._usage
        if self._has:
            usage.in_use -= 1
        else:
            usage.waiting -= 1
        usage.on_usage(self._work, usage.clock() - self._began)


def _ignore(_work: str, _took_s: float) -> None:
    """Ignore the event: nobody measures this store."""
