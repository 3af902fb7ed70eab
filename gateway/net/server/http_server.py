"""The connections of one listener: counted, bounded, and closed in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from gateway.domain.requests.networks import network
from gateway.net.server.connection import Connection
from gateway.net.server.peer import ServerLimits, is_within
from gateway.net.server.proxy_protocol import CONNECTIONS
from gateway.net.server.reply import Refusals, Reply, Written
from gateway.net.server.request import Request

Handler = Callable[[Request], Reply | Coroutine[Any, Any, Reply | Written]]
"""Answers at once, or returns a coroutine to wait for."""


class HttpServer:
    """
    Makes a protocol for each accepted socket; ``create_server`` calls it.

    Attributes:
        draining: Set once. From then on new requests are refused with
            ``SVC.GTW.006`` and every answer ends its connection.
        connections: Open now, including those that are being closed.
        turned_away: Connections closed on arrival since the start, by reason:
            ``full`` (too many in all), ``address`` (too many of one network),
            ``descriptors`` (this process may not open many more files),
            ``peer`` (not from one of our proxies).
    """

    def __init__(self, handler: Handler, limits: ServerLimits, refusals: Refusals) -> None:
        """Answer requests with ``handler``; needs a running event loop."""
        self.handler = handler
        self.limits = limits
        self.refusals = refusals
        self.draining = False
        self.connections: set[Connection] = set()
        self.turned_away: Counter[str] = Counter()
        self._all_closed = asyncio.Event()
        self._all_closed.set()
        self._loop = asyncio.get_running_loop()
        self._by_place: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[Reply | Written]] = set()
        self._kind = CONNECTIONS[limits.client_address]

    def __call__(self) -> Connection:
        """Make the protocol of one accepted socket."""
        return self._kind(self, self._loop)

    @property
    def open_connections(self) -> int:
        """How many are open now."""
        return len(self.connections)

    @property
    def in_flight(self) -> int:
        """How many requests have a task now."""
        return len(self._tasks)

    def admit(self, connection: Connection, descriptor: int = -1) -> bool:
        """Count a new connection; False if there is no room for it."""
        if descriptor >= self.limits.descriptors:
            self.turned_away["descriptors"] += 1
            return False
        if len(self.connections) >= self.limits.connections:
            self.turned_away["full"] += 1
            return False
        place = self._place(connection.address)
        if self._is_crowded(place):
            self.turned_away["address"] += 1
            return False
        self.connections.add(connection)
        self._all_closed.clear()
        self._count(connection, place)
        return True

    def release(self, connection: Connection) -> None:
        """Count an admitted connection no longer."""
        self.connections.discard(connection)
        if not self.connections:
            self._all_closed.set()
        self._decrement(connection.counted_as)

    def reassign(self, connection: Connection, address: str) -> bool:
        """Count a connection for the client that a proxy named; False if it has too many."""
        place = self._place(address)
        if self._is_crowded(place):
            self.turned_away["address"] += 1
            return False
        self._decrement(connection.counted_as)
        connection.address = address
        self._count(connection, place)
        return True

    def add_task(self, task: asyncio.Task[Reply | Written]) -> None:
        """Count a request that is being waited for."""
        self._tasks.add(task)

    def remove_task(self, task: asyncio.Task[Reply | Written]) -> None:
        """Count it no longer."""
        self._tasks.discard(task)

    async def wait_idle(self, timeout_s: float) -> bool:
        """Wait until no request is in flight; False if ``timeout_s`` was not enough."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            return False
        return True

    async def close(self, grace_s: float) -> None:
        """Close every connection; cancel requests still in flight and give them ``grace_s``."""
        for task in self._tasks:
            task.cancel()
        for connection in tuple(self.connections):
            connection.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_closed.wait(), grace_s)
        for connection in tuple(self.connections):
            connection.abort()

    def _place(self, address: str) -> str:
        """
        Return what an address counts under: its network, and one of our proxies by itself.

        Else who has a /64 of IPv6 would have as many connections as addresses, and a proxy
        would use up those of its neighbours.
        """
        is_proxy = ":" in address and is_within(address, self.limits.trusted_peers)
        return address if is_proxy else network(address)

    def _is_crowded(self, place: str) -> bool:
        """Are there all the connections that one place may have? Our proxies may have more."""
        if self._by_place[place] < self.limits.connections_per_address:
            return False
        return not is_within(place, self.limits.trusted_peers)

    def _count(self, connection: Connection, place: str) -> None:
        """Count one more, and remember where: our proxies may be others when it ends."""
        connection.counted_as = place
        self._by_place[place] += 1

    def _decrement(self, place: str) -> None:
        """Count one less, and keep nothing of a place that has none left."""
        self._by_place[place] -= 1
        if not self._by_place[place]:
            del self._by_place[place]
