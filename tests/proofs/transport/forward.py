"""A loop's clock that a test puts forward: timers end at once, sockets go on as before."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(slots=True)
class Forward:
    """
    Puts the clock of the running loop forward; asyncio's own loop alone.

    A product's time limit can so be an hour, and end in the moment that the test chooses.
    """

    ahead_s: float = 0.0

    def __post_init__(self) -> None:
        """Take the place of the loop's clock, which ends with the test."""
        loop = asyncio.get_running_loop()
        real = loop.time
        loop.time = lambda: real() + self.ahead_s  # type: ignore[method-assign]

    def by(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self.ahead_s += seconds
