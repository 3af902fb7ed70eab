"""
Log lines on their last step, where a reader that stands still stops nobody.

A pipe or a socket below standard output is full as soon as nobody reads it (a log collector that
hangs), and whoever writes to it then waits for as long as that lasts: a thread of its own.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from threading import RLock, Thread
from typing import Final

_ONE_WRITE: Final = 4096
"""A pipe takes this much in one piece, so that lines of several processes stay whole."""
_MOST_WAITING: Final = 8 << 20
"""Bytes: some ten thousand lines, seconds of full load, for a reader that is merely late."""
_LAST_S: Final = 2.0
"""A reader that is there takes all that waits in a fraction of it."""


def to_descriptor(number: int) -> Callable[[bytes], None]:
    """Make a writer to an open file descriptor; it blocks while a pipe is full."""

    def write(data: bytes) -> None:
        written = os.write(number, data)
        while written < len(data):
            written += os.write(number, data[written:])

    return write


class LineWriter:
    """
    Writes batches of lines in the order in which they come, and never lets anybody wait.

    Every method may be called on any thread.

    Args:
        write: Writes so many bytes as fit a pipe in one piece; it may block.
        most: Bytes that may wait; one batch may always.

    Attributes:
        lost: Lines that were not written, by reason: ``full`` when too many waited already,
            ``failed`` when the system refused them (a full disk, a closed pipe).
    """

    def __init__(self, write: Callable[[bytes], object], *, most: int = _MOST_WAITING) -> None:
        self.lost: Counter[str] = Counter(full=0, failed=0)
        self._write = write
        self._most = most
        self._batches: SimpleQueue[bytes | bytearray | None] = SimpleQueue()
        self._waiting = 0
        self._turn = RLock()  # a finalizer may log in the middle of a turn
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin the thread now; otherwise the first batch does."""
        with self._turn:
            if self._thread is None:
                thread = Thread(target=self._run, name="log lines", daemon=True)
                with suppress(RuntimeError):  # no room for a thread: the next batch tries again
                    thread.start()
                    self._thread = thread

    def put(self, lines: bytes | bytearray) -> None:
        """Take whole lines, which must not change any more; drop them when too many wait."""
        with self._turn:
            if self._waiting and self._waiting + len(lines) > self._most:
                self.lost["full"] += lines.count(b"\n")
                return
            self._waiting += len(lines)
            self._batches.put(lines)
            self.start()

    def stop(self, patience_s: float = _LAST_S) -> None:
        """
        Wait until all is written, but no longer than ``patience_s`` seconds.

        The thread ends then. One that still waits for its reader ends with the process.
        """
        with self._turn:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._batches.put(None)
            thread.join(patience_s)

    def _run(self) -> None:
        """Write batch after batch; what cannot be written is counted."""
        while (lines := self._batches.get()) is not None:
            with self._turn:
                self._waiting -= len(lines)
            for piece in _pieces(lines):
                try:
                    self._write(piece)
                except (OSError, ValueError):  # a full disk, a closed pipe, a closed file
                    self.lost["failed"] += piece.count(b"\n")


def _pieces(lines: bytes | bytearray) -> Iterator[bytes]:
    """Cut lines into pieces that are written in one go; no line is cut."""
    start, end, view = 0, len(lines), memoryview(lines)
    while end - start > _ONE_WRITE:
        cut = lines.rfind(b"\n", start, start + _ONE_WRITE) + 1
        cut = cut or lines.index(b"\n", start) + 1  # one line that is longer
        yield bytes(view[start:cut])
        start = cut
    if start < end:
        yield bytes(view[start:])
