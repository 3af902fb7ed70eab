"""The open connections of one provider: idle ones for reads, warm ones for payouts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from math import inf
from typing import Final

from gateway.domain.bank.providers import ProviderError
from gateway.net.client.connection import Connection
from gateway.net.common.runtime import chance

IDLE_S: Final = 15.0
"""Shorter than banks keep an idle connection; one that they close sooner is noticed."""

LIFE_S: Final = 60.0
"""
The most seconds from opening a connection to its last call, however busy it is.

A bank moves by changing its name's addresses: whoever keeps a connection would never hear of it.
"""
# They end over a quarter of that time, so that those opened together are not replaced together.
_SPREAD: Final = 0.25

# The loop closes a socket in its next turns; more time would only delay the shutdown.
_CLOSING_S: Final = 1.0
# The bank counts the time it keeps a connection from an earlier moment than we do.
_MARGIN_S: Final = 1.0

OLDEST_S: Final = 2.0
"""
The most seconds that a warm connection waits.

A bank may close an idle connection at any moment. If that happens while a payout is
written, nobody knows whether it arrived; so a connection must not wait here for long.
"""


class Pool:
    """
    At most ``most`` connections; idle ones are kept for ``idle_s`` seconds.

    The one used last is used next. So few connections serve a steady load, and those that
    a peak has opened grow old and are closed. None gets another call after a minute.

    Args:
        chance: Numbers from 0 up to 1, which shorten that minute by up to a quarter.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        most: int,
        idle_s: float = IDLE_S,
        chance: Callable[[], float] = chance,
    ) -> None:
        self._loop = loop
        self._most = most
        self._idle_s = idle_s
        self._chance = chance
        self._idle: deque[Connection] = deque()
        self._open: set[Connection] = set()
        self._ahead: set[Connection] = set()
        self._ending: set[Connection] = set()
        self._kept_s = inf
        self._epoch = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._emptied: asyncio.Future[None] | None = None

    def __len__(self) -> int:
        """Count all: busy, idle, warm, and those that are being closed."""
        return len(self._open) + len(self._ahead) + len(self._ending)

    @property
    def idle(self) -> int:
        """Count those that wait for a read."""
        return len(self._idle)

    @property
    def is_full(self) -> bool:
        """Are there as many as there may be?"""
        return len(self._open) >= self._most

    def has_room(self) -> bool:
        """May one more be opened? If need be, the one idle for longest is closed."""
        if self.is_full and self._idle:
            self.end(self._idle.popleft())
        return not self.is_full

    def idle_bound(self, at_most: float) -> float:
        """Return how many seconds one may wait: less than ``at_most`` if the bank says so."""
        return min(at_most, self._kept_s - _MARGIN_S)

    def make(self, largest: int, *, single: bool = False, ahead: bool = False) -> Connection:
        """
        Make the protocol of a new connection; it counts as open from now on.

        Args:
            largest: Bytes of an answer's body that are read.
            single: It carries one call.
            ahead: No call needs it yet; it counts against the limit only after ``adopt``.
        """
        connection = Connection(self._loop, largest, self._forget, single=single)
        connection.epoch = self._epoch
        if not single:  # which no call may follow
            life_s = LIFE_S * (1 - _SPREAD * self._chance())
            connection.usable_until = self._loop.time() + life_s
        (self._ahead if ahead else self._open).add(connection)
        return connection

    def adopt(self, connection: Connection) -> None:
        """Count one that was opened ahead like the others: a call needs it now."""
        self._ahead.discard(connection)
        self.has_room()
        self._open.add(connection)

    def is_current(self, connection: Connection) -> bool:
        """Was it opened with the current credentials?"""
        return connection.epoch == self._epoch

    def unmake(self, connection: Connection) -> None:
        """Forget one that was never connected."""
        connection.abort()
        self._forget(connection)

    def end(self, connection: Connection) -> None:
        """Close one; its place is free at once, although the loop closes it in a later turn."""
        if connection in self._open or connection in self._ahead:
            self._open.discard(connection)
            self._ahead.discard(connection)
            self._ending.add(connection)
        connection.abort()

    def take(self) -> Connection | None:
        """Return an idle one that is alive, for one call; close those found dead."""
        while self._idle:
            connection = self._idle.pop()
            if connection.idle_until > self._loop.time() and connection.is_quiet():
                return connection
            self.end(connection)
        return None

    def give(self, connection: Connection) -> None:
        """Take one back after its call: keep it if another call may follow, else close it."""
        kept_s, told_s = self._idle_s, connection.kept_s
        if told_s is not None:
            self._kept_s = told_s
            kept_s = min(kept_s, told_s - _MARGIN_S)
        if not connection.end_call() or not self.is_current(connection):
            self.end(connection)
            return
        connection.idle_until = min(self._loop.time() + kept_s, connection.usable_until)
        self._idle.append(connection)
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(self._idle_s, self._sweep)

    def renew(self) -> None:
        """Use none of the present ones for another call; those in use finish theirs."""
        # Connections in use keep the old number, and are closed when they come back.
        self._epoch += 1
        self.drop_idle()

    def drop_idle(self) -> None:
        """Close those that no call uses."""
        while self._idle:
            self.end(self._idle.pop())

    async def close(self) -> None:
        """Close all, also those with a call in flight, and wait for that: a second at most."""
        self.renew()
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None
        for connection in (*self._open, *self._ahead):
            self.end(connection)
        if self._ending:
            self._emptied = self._loop.create_future()
            await asyncio.wait([self._emptied], timeout=_CLOSING_S)

    def _sweep(self) -> None:
        """Close what has been idle for too long."""
        now = self._loop.time()
        for connection in [each for each in self._idle if each.idle_until <= now]:
            self._idle.remove(connection)
            self.end(connection)
        self._sweeping = None
        if self._idle:
            soonest = min(connection.idle_until for connection in self._idle)
            self._sweeping = self._loop.call_at(soonest, self._sweep)

    def _forget(self, connection: Connection) -> None:
        """Forget one that is closed for good."""
        self._open.discard(connection)
        self._ahead.discard(connection)
        self._ending.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        if self._emptied is not None and not len(self) and not self._emptied.done():
            self._emptied.set_result(None)


class Candidates:
    """
    Connections that race to one bank, of which one is used.

    Only the first takes a place in the pool; if another wins, it takes that one's.

    Args:
        largest: Bytes of an answer's body that are read.
        single: It carries one call.
        ahead: No call needs it yet.
    """

    def __init__(self, pool: Pool, largest: int, *, single: bool, ahead: bool) -> None:
        self._pool = pool
        self._largest = largest
        self._single = single
        self._ahead = ahead
        self._made: list[Connection] = []

    def make(self) -> Connection:
        """Make one more."""
        ahead = self._ahead or bool(self._made)
        made = self._pool.make(self._largest, single=self._single, ahead=ahead)
        self._made.append(made)
        return made

    def choose(self, winner: Connection) -> None:
        """Use this one; close the others."""
        is_first = winner is self._made[0]
        self._made.remove(winner)
        self.drop()
        if not (is_first or self._ahead):
            self._pool.adopt(winner)

    def drop(self) -> None:
        """Close all."""
        for connection in self._made:
            self._pool.unmake(connection)


class WarmConnections:
    """
    Idle connections opened ahead: each is for one payout to come.

    They are opened when a payout is sent, and closed after two seconds, or sooner if the
    bank keeps idle connections for less. So there are some only while payouts flow.

    Args:
        most: Connections that wait at once; 0 opens none.
        connect: Opens one, or raises ``ProviderError``.
    """

    def __init__(self, pool: Pool, most: int, connect: Callable[[], Awaitable[Connection]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = pool
        self._most = most
        self._connect = connect
        self._ready: dict[Connection, asyncio.TimerHandle] = {}
        self._opening: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Count those that wait for a payout."""
        return len(self._ready)

    def take(self) -> Connection | None:
        """
        Return the youngest that is open and quiet; the caller must write in the same step.

        Those found closed, or with unexpected bytes, are closed.
        """
        while self._ready:
            connection, timer = self._ready.popitem()
            timer.cancel()
            if connection.idle_until > self._loop.time() and connection.is_quiet():
                self._pool.adopt(connection)
                return connection
            self._pool.end(connection)
        return None

    def refill(self) -> None:
        """Open what is missing, in the background; called whenever a payout is sent."""
        missing = self._most - len(self._ready) - len(self._opening)
        if self._pool.idle_bound(OLDEST_S) <= 0:
            return
        for _ in range(missing):
            task = self._loop.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    def drop(self) -> None:
        """Close all that wait."""
        for connection in list(self._ready):
            self._end(connection)

    async def close(self) -> None:
        """Close all, including those that are being opened."""
        opening = list(self._opening)
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        self.drop()

    async def _open(self) -> None:
        """Open one. A failure is ignored here: the payout that needs one will report it."""
        try:
            connection = await self._connect()
        except ProviderError:
            return
        if not self._pool.is_current(connection):
            self._pool.end(connection)
            return
        age = self._pool.idle_bound(OLDEST_S)
        connection.idle_until = self._loop.time() + age
        self._ready[connection] = self._loop.call_later(age, self._end, connection)

    def _end(self, connection: Connection) -> None:
        """Close one that waits."""
        timer = self._ready.pop(connection, None)
        if timer is not None:
            timer.cancel()
        self._pool.end(connection)
