"""A ceiling for repeated log lines: one message said too often is counted instead."""

from __future__ import annotations

from collections import Counter
from typing import Final

from gateway.domain.kernel.clocks import Monotonic

# Messages are written in the code, so they are few; beyond the bound all share one ceiling.
_KINDS: Final = 1024
_OTHERS: Final = "others"


class Ceiling:
    """
    Lets each message through so many times a second.

    Messages are told apart up to 1024 a second; the rest share one count.
    """

    def __init__(self, most: int, clock: Monotonic) -> None:
        """Allow ``most`` lines per message and second."""
        self._most = most
        self._clock = clock
        self._second = 0
        self._seen: Counter[str] = Counter()
        self._over: Counter[str] = Counter()

    def admits(self, message: str) -> bool:
        """Count a message and say whether it may be written."""
        second = int(self._clock())
        if second != self._second:
            self._turn(second)
        kind = message if message in self._seen or len(self._seen) < _KINDS else _OTHERS
        self._seen[kind] += 1
        return self._seen[kind] <= self._most

    def take_suppressed(self) -> dict[str, int]:
        """Return how often which message was held back in seconds gone by; once."""
        second = int(self._clock())
        if second != self._second:
            self._turn(second)
        if not self._over:
            return {}
        over, self._over = self._over, Counter()
        return dict(over)

    def _turn(self, second: int) -> None:
        """Begin a new second."""
        seen, self._seen = self._seen, Counter()
        self._second = second
        for message, times in seen.items():
            if times > self._most:
                self._over[message] += times - self._most
