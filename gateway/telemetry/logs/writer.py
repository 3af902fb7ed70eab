"""
The last step of log lines: a stalled reader of standard output blocks nothing.

A pipe or a socket below standard output is full as soon as it is not read (a log collector that
hangs), and a write to it then waits for as long as that lasts. So lines are written at once
only as far as that does not block; the rest waits on a thread of its own. That thread alone would
do, but each of its writes takes the interpreter from the requests.
"""

from __future__ import annotations

import os
import socket
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterator
from threading import Condition, Thread
from typing import Final

_ONE_WRITE: Final = 4096
"""A pipe takes this much in one piece, so that lines of several processes stay whole."""
_MOST_WAITING: Final = 8 << 20
"""Bytes: some ten thousand lines, seconds of full load, for a reader that is merely late."""
_LAST_S: Final = 2.0
"""A reader that is there takes all that waits in a fraction of it."""


_KEPT: Final[list[socket.socket]] = []
"""Sockets that are written to for as long as the process lives."""


def to_descriptor(number: int) -> Callable[[bytes], None]:
    """Make a writer to an open file descriptor; it blocks while a pipe is full."""

    def write(data: bytes) -> None:
        written = os.write(number, data)
        while written < len(data):
            written += os.write(number, data[written:])

    return write


def without_waiting(number: int) -> Callable[[bytes], int] | None:
    """
    Make a writer to a descriptor's file that raises ``BlockingIOError`` rather than wait.

    The mark that makes a write fail belongs to all processes that share a pipe, so that one is
    left alone: a pipe is opened once more, and a socket is told with each write. None where
    neither can be done: on a terminal, without ``/proc``.

    Returns:
        A function that takes bytes and returns the number written.
    """
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return lambda data: os.write(number, data)
    if stat.S_ISSOCK(mode):
        ours = socket.socket(fileno=os.dup(number))
        _KEPT.append(ours)
        return lambda data: ours.send(data, socket.MSG_DONTWAIT)
    if not stat.S_ISFIFO(mode):
        return None
    try:
        again = os.open(f"/proc/self/fd/{number}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # no /proc, or no right to it
        return None
    return lambda data: os.write(again, data)


class LineWriter:
    """
    Writes batches of lines in order, without blocking the caller.

    Every method may be called on any thread.

    Attributes:
        lost: Lines that were not written, by reason: ``full`` when too many waited already,
            ``failed`` when the system refused them (a full disk, a closed pipe).
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        at_once: Callable[[bytes], int] | None = None,
        *,
        most: int = _MOST_WAITING,
    ) -> None:
        """
        Start no thread yet.

        Args:
            write: Writes so many bytes as fit a pipe in one piece; it may block.
            at_once: Writes as much as possible without waiting, and returns how many bytes
                that was; None leaves all to the thread.
            most: Bytes that may wait; one batch may always.
        """
        self.lost: Counter[str] = Counter(full=0, failed=0)
        self._write = write
        self._at_once = at_once
        self._most = most
        self._batches: deque[bytes | bytearray] = deque()
        self._waiting = 0
        self._changed = Condition()
        self._thread: Thread | None = None
        self._ending = False
        self._is_writing = False

    def start(self) -> None:
        """Begin the thread now; otherwise the first batch does."""
        with self._changed:
            self._begin()

    def put(self, lines: bytes | bytearray) -> None:
        """Take whole lines, which must not change any more; drop them when too many wait."""
        if not lines:
            return
        with self._changed:
            if self._at_once is not None and not (self._waiting or self._is_writing):
                lines = self._left_of(lines, self._at_once)
                if not lines:
                    return
            if self._waiting and self._waiting + len(lines) > self._most:
                self.lost["full"] += lines.count(b"\n")
                return
            self._batches.append(lines)
            self._waiting += len(lines)
            self._begin()
            self._changed.notify()

    def stop(self, patience_s: float = _LAST_S) -> None:
        """
        Wait until all is written, but no longer than ``patience_s`` seconds.

        The thread ends then. One that still waits for its reader ends with the process.
        """
        with self._changed:
            self._ending = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(patience_s)

    def _left_of(self, lines: bytes | bytearray, write: Callable[[bytes], int]) -> bytes:
        """Write as much as possible at once; return the rest, which has to wait."""
        done = 0
        for piece in _pieces(lines):
            try:
                written = write(piece)
            except BlockingIOError:
                return bytes(lines[done:])
            except (OSError, ValueError):  # a full disk, a closed pipe, a closed file
                self.lost["failed"] += piece.count(b"\n")
                written = len(piece)
            done += written
            if written < len(piece):
                return bytes(lines[done:])
        return b""

    def _begin(self) -> None:
        """Start the thread if there is none; its lines wait if the system cannot start it."""
        if self._thread is not None:
            return
        thread = Thread(target=self._run, name="log lines", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the next batch tries again
            return
        self._thread = thread

    def _run(self) -> None:
        """Write batch after batch."""
        while (lines := self._next()) is not None:
            self._write_out(lines)

    def _next(self) -> bytes | bytearray | None:
        """Wait for a batch; None when there is none any more and the thread is to end."""
        with self._changed:
            self._is_writing = False
            while not self._batches and not self._ending:
                self._changed.wait()
            if not self._batches:
                self._thread = None
                return None
            lines = self._batches.popleft()
            self._waiting -= len(lines)
            self._is_writing = True
            return lines

    def _write_out(self, lines: bytes | bytearray) -> None:
        """Write lines in pieces; unwritten ones are counted."""
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
