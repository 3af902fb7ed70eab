"""
Batching of log lines, and the rate limit of repeated messages.

Writing each line by itself costs more than all the rest of a line. What a
killed process had not handed on yet is at most ``delay_s`` old.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from threading import get_ident
from typing import Final

import orjson

from gateway.core.clocks import Monotonic

# Messages are written in the code, so they are few; beyond the bound all share one ceiling.
_KINDS: Final = 1024
_OTHERS: Final = "others"


class Ceiling:
    """
    Limits each message to a number a second.

    Messages are counted apart up to 1024 a second; the rest share one count.
    """

    def __init__(self, most: int, clock: Monotonic) -> None:
        self._most = most
        self._clock = clock
        self._second = 0
        self._seen: Counter[str] = Counter()
        self._over: Counter[str] = Counter()

    def admits(self, message: str) -> bool:
        """Count a message, and return whether it may be written."""
        second = int(self._clock())
        if second != self._second:
            self._turn(second)
        kind = message if message in self._seen or len(self._seen) < _KINDS else _OTHERS
        self._seen[kind] += 1
        return self._seen[kind] <= self._most

    def take_suppressed(self) -> dict[str, int]:
        """Return and reset the number of suppressed messages of earlier seconds."""
        second = int(self._clock())
        if second != self._second:
            self._turn(second)
        if not self._over:
            return {}
        over, self._over = self._over, Counter()
        return dict(over)

    def _turn(self, second: int) -> None:
        seen, self._seen = self._seen, Counter()
        self._second = second
        for message, times in seen.items():
            if times > self._most:
                self._over[message] += times - self._most


_OPTIONS: Final = orjson.OPT_UTC_Z


def encode(fields: Mapping[str, object]) -> bytes:
    """Write one JSON line; never fails, for any values."""
    try:
        # joined into bytes of their own: what orjson returns keeps a block of 4 KiB
        return orjson.dumps(fields, default=str, option=_OPTIONS) + b"\n"
    except TypeError:  # a lone surrogate, a number over 64 bits or a key that is no text
        plain = {str(key): value for key, value in fields.items()}
        return json.dumps(plain, default=str).encode() + b"\n"


class LineBuffer:
    """
    Collects lines and passes them on in batches.

    Before ``start`` and after ``stop`` every line is handed on at once, and so is always one of
    another thread than the loop's: there are few. Those of one thread stay in order.

    Args:
        hand_on: Takes lines, on any thread; neither waits nor fails. They are not touched again.
        delay_s: From the first line that waits, in seconds.
        most: Bytes that wait. More than 64 KiB at once costs more: the allocator gives the memory
            back each time.
    """

    def __init__(
        self,
        hand_on: Callable[[bytes | bytearray], object],
        *,
        delay_s: float = 0.05,
        most: int = 65_536,
    ) -> None:
        self._hand_on = hand_on
        self._delay_s = delay_s
        self._most = most
        self._ours = bytearray()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._armed = False

    def start(self) -> None:
        """Begin to collect; the running loop's timer passes lines on from now on."""
        self._thread = get_ident()
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """Pass on the rest, and every later line at once."""
        self._loop = None
        self._armed = False
        self.flush()

    def append(self, line: bytes) -> None:
        """Take one line, its newline included; may be called on any thread."""
        loop = self._loop
        if loop is None or get_ident() != self._thread:
            self._hand_on(line)
            return
        self._ours += line
        if len(self._ours) >= self._most:
            self.flush()
        elif not self._armed:
            self._armed = True
            loop.call_later(self._delay_s, self._due)

    def flush(self) -> None:
        """Hand all on now; on another thread than the loop's there is nothing to hand on."""
        if self._ours and (self._loop is None or get_ident() == self._thread):
            ours, self._ours = self._ours, bytearray()
            self._hand_on(ours)

    def _due(self) -> None:
        self._armed = False
        self.flush()
