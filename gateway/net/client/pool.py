"""The open connections of one provider: for reads, the last one used is the next one used."""

from __future__ import annotations

import asyncio
from collections import deque
from math import inf
from typing import Final

from gateway.net.client.connection import Line

IDLE_S: Final = 15.0
"""Shorter than what banks keep an idle connection for; one they close sooner is noticed."""

_CLOSING_S: Final = 1.0
# What a bank says that it keeps a connection for, it may count from a moment earlier than ours.
_MARGIN_S: Final = 1.0


class Pool:
    """
    Connections by their last use, at most ``most`` of them, idle ones for ``idle_s`` seconds.

    The last used comes first: then the fewest connections stay warm, and what
    a peak has opened grows old and is closed.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, most: int, idle_s: float = IDLE_S) -> None:
        self._loop = loop
        self._most = most
        self._idle_s = idle_s
        self._idle: deque[Line] = deque()
        self._open: set[Line] = set()
        self._ahead: set[Line] = set()
        self._ending: set[Line] = set()
        self._kept_s = inf
        self._epoch = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        """Count those that are open, busy, idle and ahead, and those that are being closed."""
        return len(self._open) + len(self._ahead) + len(self._ending)

    @property
    def idle(self) -> int:
        """Count those that wait for a call."""
        return len(self._idle)

    @property
    def is_full(self) -> bool:
        """Say that no further one may be opened."""
        return len(self._open) >= self._most

    def has_room(self) -> bool:
        """Say whether one more may be opened; the one idle for longest makes way."""
        if self.is_full and self._idle:
            self.end(self._idle.popleft())
        return not self.is_full

    def idle_bound(self, at_most: float) -> float:
        """Return for how many seconds one may wait: less where the bank has said so."""
        return min(at_most, self._kept_s - _MARGIN_S)

    def make(self, largest: int, *, single: bool = False, ahead: bool = False) -> Line:
        """
        Make the protocol of a connection to be; it counts as open from now on.

        Args:
            largest: Bytes of an answer's body that are read.
            single: It carries one call.
            ahead: No call needs it yet; it takes nobody's place before ``adopt``.
        """
        line = Line(self._loop, largest, self._forget, single=single)
        line.epoch = self._epoch
        (self._ahead if ahead else self._open).add(line)
        return line

    def adopt(self, line: Line) -> None:
        """Count one that was opened ahead among the others: a call needs it."""
        self._ahead.discard(line)
        self.has_room()
        self._open.add(line)

    def is_current(self, line: Line) -> bool:
        """Say whether it was opened with the credentials of now."""
        return line.epoch == self._epoch

    def unmake(self, line: Line) -> None:
        """Forget one that was never connected."""
        line.abort()
        self._forget(line)

    def end(self, line: Line) -> None:
        """Close one; its place is free at once, though the loop closes it in a later turn."""
        if line in self._open or line in self._ahead:
            self._open.discard(line)
            self._ahead.discard(line)
            self._ending.add(line)
        line.abort()

    def take(self) -> Line | None:
        """Return an idle one that is alive, for one call; those found dead are closed."""
        while self._idle:
            line = self._idle.pop()
            if line.idle_until > self._loop.time() and line.is_quiet():
                return line
            self.end(line)
        return None

    def give(self, line: Line) -> None:
        """Take one back after its call: kept if another call may follow, else closed."""
        if line.kept_s is not None:
            self._kept_s = line.kept_s
        if not line.end_call() or not self.is_current(line):
            self.end(line)
            return
        kept_s = self._idle_s
        if line.kept_s is not None:
            kept_s = min(kept_s, line.kept_s - _MARGIN_S)
        line.idle_until = self._loop.time() + kept_s
        self._idle.append(line)
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(self._idle_s, self._sweep)

    def renew(self) -> None:
        """Use none of the present ones for another call; those in use end theirs."""
        self._epoch += 1
        while self._idle:
            self.end(self._idle.pop())

    async def close(self) -> None:
        """Close all, calls in flight too, and wait until they are closed: a second at most."""
        self.renew()
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for line in (*self._open, *self._ahead):
            self.end(line)
        if self._ending:
            self._emptied = self._loop.create_future()
            await asyncio.wait([self._emptied], timeout=_CLOSING_S)

    def _sweep(self) -> None:
        """Close what has been idle for too long."""
        now = self._loop.time()
        for line in [each for each in self._idle if each.idle_until <= now]:
            self._idle.remove(line)
            self.end(line)
        self._sweeping = None
        if self._idle:
            soonest = min(line.idle_until for line in self._idle)
            self._sweeping = self._loop.call_at(soonest, self._sweep)

    def _forget(self, line: Line) -> None:
        """Hear that one is closed for good."""
        self._open.discard(line)
        self._ahead.discard(line)
        self._ending.discard(line)
        if line in self._idle:
            self._idle.remove(line)
        if self._emptied is not None and not len(self) and not self._emptied.done():
            self._emptied.set_result(None)
