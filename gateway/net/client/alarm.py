"""A clock that is set anew with every call, and hardly ever rings: one timer serves many calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from math import inf
from typing import Final

_CLOSE_S: Final = 0.001
"""As exact as the loop's timers are."""


class Alarm:
    """
    Rings once at the instant that was set last, in seconds of the loop's clock.

    Setting it later costs nothing: the timer that runs finds out when it is
    over, and is wound up again. Nobody unsets it, so whoever is rung for a call
    that is long over must see that for himself.
    """

    __slots__ = ("_at", "_loop", "_nowhere", "_ring", "_rings_at", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._nowhere = Context()  # a caller's would be kept for as long as the timer
        self._timer: asyncio.TimerHandle | None = None
        self._at = self._rings_at = inf

    def set(self, at: float) -> None:
        """Ring at ``at``, and not before."""
        self._at = at
        if at < self._rings_at:
            self._wind()

    def stop(self) -> None:
        """Never ring again."""
        self._at = self._rings_at = inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wind(self) -> None:
        """Let the timer run to the instant that is set now."""
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = self._at
        self._timer = self._loop.call_at(self._at, self._over, context=self._nowhere)

    def _over(self) -> None:
        """Ring if it is time, else find out when it will be."""
        self._timer = None
        if self._at > self._loop.time() + _CLOSE_S:
            self._wind()
            return
        self._at = self._rings_at = inf
        self._ring()
