"""
Log lines on their way out: appended at once, written together by a short timer.

Writing each line by itself costs more than all the rest of a line. What a
killed process had not written yet is at most ``delay_s`` old.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import get_ident
from typing import Final

import orjson

_OPTIONS: Final = orjson.OPT_UTC_Z
_ONE_WRITE: Final = 4096
"""A pipe takes this much in one piece, so that lines of several processes stay whole."""


def encode(fields: Mapping[str, object]) -> bytes:
    """Write one JSON line; never fails, whatever the values are."""
    try:
        # joined into bytes of their own: what orjson returns keeps a block of 4 KiB
        return orjson.dumps(fields, default=str, option=_OPTIONS) + b"\n"
    except TypeError:  # a lone surrogate, a number over 64 bits or a key that is no text
        plain = {str(key): value for key, value in fields.items()}
        return json.dumps(plain, default=str).encode() + b"\n"


def to_descriptor(number: int) -> Callable[[bytes], None]:
    """Make a writer to an open file descriptor; it blocks while a pipe is full."""

    def write(data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[os.write(number, left) :]

    return write


class LineBuffer:
    """
    Collects lines and writes them in pieces.

    Before ``start`` and after ``stop`` every line is written at once. May be
    appended to on any thread.

    Attributes:
        lost: Lines that could not be written; a full disk stops no request.
    """

    def __init__(
        self, write: Callable[[bytes], object], *, delay_s: float = 0.05, most: int = 128
    ) -> None:
        """
        Write ``delay_s`` seconds after the first line, or as soon as there are ``most``.

        More than 128 at once costs more: the allocator gives the memory back each time.
        """
        self._write = write
        self._delay_s = delay_s
        self._most = most
        self._pending: deque[bytes] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._armed = False
        self.lost = 0

    def start(self) -> None:
        """Begin to collect; the running loop's timer writes from now on."""
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()

    def stop(self) -> None:
        """Write what is left, and from now on every line at once."""
        self._loop = None
        self._armed = False
        self.flush()

    def append(self, line: bytes) -> None:
        """Take one line, its newline included."""
        self._pending.append(line)
        if self._loop is None or len(self._pending) >= self._most:
            self.flush()
        elif not self._armed:
            self._arm(self._loop)

    def flush(self) -> None:
        """Write everything now."""
        for piece in _pieces(self._take()):
            try:
                self._write(piece)
            except (OSError, ValueError):  # a full disk, a closed pipe, a closed file
                self.lost += piece.count(b"\n")

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the lines written in a moment, from whichever thread this is."""
        self._armed = True
        if get_ident() == self._thread:
            loop.call_later(self._delay_s, self._due)
            return
        try:
            loop.call_soon_threadsafe(loop.call_later, self._delay_s, self._due)
        except RuntimeError:  # the loop was closed without stop()
            self.stop()

    def _due(self) -> None:
        """Write what has waited long enough."""
        self._armed = False
        self.flush()

    def _take(self) -> Iterator[bytes]:
        """Take the lines of now; what comes meanwhile waits for the next time."""
        for _ in range(len(self._pending)):
            try:
                yield self._pending.popleft()
            except IndexError:  # another thread flushes too
                return


def _pieces(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join lines into pieces that are written in one go; no line is cut."""
    piece = b""
    for line in lines:
        if piece and len(piece) + len(line) > _ONE_WRITE:
            yield piece
            piece = b""
        piece += line
    if piece:
        yield piece
