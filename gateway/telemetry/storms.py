"""Log storms: one cause that would fill the log with the same line."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

ACCEPT_STORM = "socket.accept() out of system resource"
"""asyncio's words when descriptors run out: thousands of lines a second, all the same."""


class OncePerInterval(logging.Filter):
    """
    Lets one line a time through of those that begin with ``prefix``, and every other line.

    Hang it on the logger that writes them: filters do not hold for child loggers.
    The line that passes carries ``suppressed``, how many before it did not.
    """

    def __init__(
        self,
        prefix: str,
        *,
        interval_s: float = 1.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._prefix = prefix
        self._interval_s = interval_s
        self._now = now
        self._next = float("-inf")
        self._suppressed = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the line may pass."""
        if not str(record.msg).startswith(self._prefix):
            return True
        now = self._now()
        if now < self._next:
            self._suppressed += 1
            return False
        self._next = now + self._interval_s
        record.suppressed = self._suppressed
        self._suppressed = 0
        return True
