"""The open connections of one provider: the last one used is the next one used."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from provider_adapters._shared.wire.line import Line

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
        self._epoch = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        """Count those that are open, busy and idle."""
        return len(self._open)

    @property
    def idle(self) -> int:
        """Count those that wait for a call."""
        return len(self._idle)

    @property
    def is_full(self) -> bool:
        """Say that no further one may be opened."""
        return len(self._open) >= self._most

    def make(self, largest: int) -> Line:
        """Make the protocol of a connection to be; it counts as open from now on."""
        line = Line(self._loop, largest, self._forget)
        line.epoch = self._epoch
        self._open.add(line)
        return line

    def unmake(self, line: Line) -> None:
        """Forget one that was never connected."""
        line.abort()
        self._forget(line)

    def take(self) -> Line | None:
        """Return an idle one that is alive, for one call; those found dead are closed."""
        while self._idle:
            line = self._idle.pop()
            if line.idle_until > self._loop.time() and line.is_quiet():
                return line
            line.abort()
        return None

    def give(self, line: Line) -> None:
        """Take one back after its call: kept if another call may follow, else closed."""
        if not line.end_call():
            return
        if line.epoch != self._epoch:
            line.abort()
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
            self._idle.pop().abort()

    async def close(self) -> None:
        """Close all, calls in flight too, and wait until they are closed: a second at most."""
        self.renew()
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for line in list(self._open):
            line.abort()
        if self._open:
            self._emptied = self._loop.create_future()
            await asyncio.wait([self._emptied], timeout=_CLOSING_S)

    def _sweep(self) -> None:
        """Close what has been idle for too long."""
        now = self._loop.time()
        for line in [each for each in self._idle if each.idle_until <= now]:
            self._idle.remove(line)
            line.abort()
        self._sweeping = None
        if self._idle:
            soonest = min(line.idle_until for line in self._idle)
            self._sweeping = self._loop.call_at(soonest, self._sweep)

    def _forget(self, line: Line) -> None:
        """Hear that one is closed for good."""
        self._open.discard(line)
        if line in self._idle:
            self._idle.remove(line)
        if self._emptied is not None and not self._open and not self._emptied.done():
            self._emptied.set_result(None)
