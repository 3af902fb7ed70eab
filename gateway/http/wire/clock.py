"""How long a caller may take to send the headers of one request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class HeaderClock:
    """
    Runs from a connection's start, or from a request's first byte, to the end of its headers.

    Attributes:
        begun: A byte of the awaited request has come.
    """

    __slots__ = ("_loop", "_on_late", "_seconds", "_timer", "begun")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, seconds: float, on_late: Callable[[], None]
    ) -> None:
        self.begun = False
        self._loop = loop
        self._seconds = seconds
        self._on_late = on_late
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Run, unless already running."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._ring)

    def begin(self) -> None:
        """Note the first byte; a clock that runs since the connection's start goes on."""
        self.begun = True
        self.start()

    def stop(self) -> None:
        """Stop: the headers are complete, or no longer awaited."""
        self.begun = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        self._on_late()
