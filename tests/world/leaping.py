"""
Tests that wait for nothing but a clock, which leaps to the next timer when nothing else is left.

Otherwise it advances by a microsecond each time it is read. So they take no time, and a busy
machine does not make them late. Not for sockets, threads or processes: the clock would not wait for
them.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

_LOOK_S = 1e-6


def leaping(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run a test on a loop of its own whose clock, ``time.monotonic``, leaps."""

    @functools.wraps(test)
    def run(*given: Any, **named: Any) -> None:
        clock = _Clock()
        with (
            pytest.MonkeyPatch.context() as patched,
            asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(clock)) as runner,
        ):
            patched.setattr(time, "monotonic", clock.looked_at)
            runner.run(test(*given, **named))

    return run


class _Clock(selectors.DefaultSelector):  # type: ignore[misc,valid-type] # one of several, by platform
    """Where a loop waits for its next timer."""

    now_s = 1_000.0

    def looked_at(self) -> float:
        """Return the time: later than any earlier reading."""
        self.now_s += _LOOK_S
        return self.now_s

    def select(self, timeout: float | None = None) -> list[Any]:
        """Return what is ready, which is only the loop's own; otherwise let time pass at once."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready: list[Any] = super().select(0)
        if not ready:
            self.now_s += timeout
        return ready
