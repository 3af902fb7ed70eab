"""The open connections of one provider: idle ones for reads, warm ones for payouts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import Final

from gateway.banks.client.connection import Connection
from gateway.banks.port.providers import ProviderError, Reason, Unreachable
from gateway.net.common.runtime import chance

IDLE_S: Final = 15.0
"""Shorter than banks keep an idle connection; one that they close sooner is noticed."""

LIFE_S: Final = 60.0
"""
The most seconds from opening a connection to its last call, however busy it is.

A bank moves by changing its name's addresses, which a kept connection does not notice.
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
    At most ``most`` connections; idle ones are kept for 15 seconds.

    The most recently used connection is used next. So few connections serve a steady load, and the
    connections of a peak grow old and are closed. After a minute a connection gets no further call.

    Args:
        chance: Numbers from 0 up to 1, which shorten that minute by up to a quarter.

    Attributes:
        is_open: Whether connections may be opened; at first they may not.
        idle: Those that wait for a read.
    """

    def __init__(self, most: int, largest: int, chance: Callable[[], float] = chance) -> None:
        self._most = most
        self._largest = largest
        self._chance = chance
        self.is_open = False
        self.idle: list[Connection] = []
        self._all: set[Connection] = set()
        # Those that a call needs, or has needed: ``most`` bounds them, with those to come.
        self._needed: set[Connection] = set()
        self._connecting = 0
        self._kept_s = inf
        self._epoch = 0
        self._emptied: asyncio.Future[None] | None = None

    def idle_bound(self) -> float:
        """Return the seconds a connection may be idle; less than usual if the bank states less."""
        return min(OLDEST_S, self._kept_s - _MARGIN_S)

    async def open(
        self,
        connect: Callable[[Callable[[], Connection]], Awaitable[Connection]],
        *,
        single: bool = False,
        ahead: bool = False,
    ) -> Connection:
        """
        Open one more; if need be, the one idle for longest is closed.

        Args:
            connect: Connects by one or several attempts, and ends those that do not win.
            single: It carries one call.
            ahead: No call needs it yet; it counts against the limit only after ``adopt``.

        Raises:
            Unreachable: ``bulkhead_full``, ``closed``, or errors of ``connect``.
        """
        loop, epoch = asyncio.get_running_loop(), self._epoch
        if not ahead:
            self._make_room()
            if len(self._needed) + self._connecting >= self._most:
                raise Unreachable(Reason.BULKHEAD_FULL)
        self._connecting += not ahead
        try:
            connection = await connect(
                partial(Connection, loop, self._largest, self._forget, single=single)
            )
        finally:
            self._connecting -= not ahead
        if not self.is_open:
            connection.abort()
            raise Unreachable(Reason.CLOSED)
        connection.epoch = epoch
        if not single:  # which no call may follow
            connection.usable_until = loop.time() + LIFE_S * (1 - _SPREAD * self._chance())
        self._all.add(connection)
        if not ahead:
            self._needed.add(connection)
        return connection

    def adopt(self, connection: Connection) -> None:
        """Count a connection opened ahead like the others: a call needs it now."""
        self._make_room()
        self._needed.add(connection)

    def is_current(self, connection: Connection) -> bool:
        """Return whether the connection was opened with the current credentials."""
        return connection.epoch == self._epoch

    def end(self, connection: Connection) -> None:
        """Close one; its place is free at once, although the loop closes it in a later turn."""
        self._needed.discard(connection)
        connection.abort()

    def take(self, waiting: list[Connection]) -> Connection | None:
        """Return the most recently used live connection for one call; close dead ones."""
        while waiting:
            connection = waiting.pop()
            is_young = connection.idle_until > asyncio.get_running_loop().time()
            if is_young and connection.is_quiet():
                connection.rest(inf)
                return connection
            self.end(connection)
        return None

    def give(self, connection: Connection) -> None:
        """Return a connection after its call: kept if another call may follow, else closed."""
        kept_s, stated_s = IDLE_S, connection.reader.kept_s
        if stated_s is not None:
            self._kept_s = stated_s
            kept_s = min(kept_s, stated_s - _MARGIN_S)
        if not connection.end_call() or not self.is_current(connection):
            self.end(connection)
            return
        now = asyncio.get_running_loop().time()
        connection.rest(min(now + kept_s, connection.usable_until))
        self.idle.append(connection)

    def renew(self) -> None:
        """Use the present connections for no further call; running calls finish."""
        # Connections in use keep the old number, and are closed when they come back.
        self._epoch += 1
        self.drop_idle()

    def drop_idle(self) -> None:
        """Close the idle connections."""
        while self.idle:
            self.end(self.idle.pop())

    async def close(self) -> None:
        """Close all, also those with a call in flight, and wait for that: a second at most."""
        self.is_open = False
        self.renew()
        for connection in tuple(self._all):
            self.end(connection)
        if self._all:
            self._emptied = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._emptied], timeout=_CLOSING_S)

    def _make_room(self) -> None:
        if self.idle and len(self._needed) + self._connecting >= self._most:
            self.end(self.idle.pop(0))

    def _forget(self, connection: Connection) -> None:
        self._all.discard(connection)
        self._needed.discard(connection)
        if connection in self.idle:
            self.idle.remove(connection)
        if self._emptied is not None and not self._all and not self._emptied.done():
            self._emptied.set_result(None)


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
        self._pool = pool
        self._most = most
        self._connect = connect
        self._ready: list[Connection] = []
        self._opening: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Count the waiting payouts."""
        return sum(connection.usable for connection in self._ready)

    def take(self) -> Connection | None:
        """Return the youngest open and quiet connection; the caller must write in the same step."""
        connection = self._pool.take(self._ready)
        if connection is not None:
            self._pool.adopt(connection)
        return connection

    def refill(self) -> None:
        """Open missing connections in the background; called whenever a payout is sent."""
        if self._pool.idle_bound() <= 0:
            return
        self._ready = [connection for connection in self._ready if connection.usable]
        for _ in range(self._most - len(self._ready) - len(self._opening)):
            task = asyncio.get_running_loop().create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    def drop(self) -> None:
        """Close all that wait."""
        while self._ready:
            self._pool.end(self._ready.pop())

    async def close(self) -> None:
        """Close all connections, also connections being opened."""
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
        age_s = self._pool.idle_bound()
        connection.rest(asyncio.get_running_loop().time() + age_s)
        self._ready.append(connection)
