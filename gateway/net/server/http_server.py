"""The connections of one listener: counted, bounded, and known while they work."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from gateway.net.server.client_address import is_within
from gateway.net.server.connection import Connection
from gateway.net.server.limits import WireLimits
from gateway.net.server.proxied import CONNECTIONS
from gateway.net.server.refusals import Refusals
from gateway.net.server.reply import Reply, Written
from gateway.net.server.request import Request

Handler = Callable[[Request], Reply | Coroutine[Any, Any, Reply | Written]]
"""Answers at once, or says what to wait for."""


class WireServer:
    """
    Makes a connection for each caller that may have one.

    Attributes:
        draining: Set once; from then on new requests are refused with
            ``SVC.GTW.006`` and every answer ends its connection.
        connections: Open now, those being closed included.
        turned_away: Closed on arrival since the start, by reason: ``full`` (no room for
            anybody), ``address`` (it has all it may), ``peer`` (not from a proxy of ours).
    """

    def __init__(self, handler: Handler, limits: WireLimits, refusals: Refusals) -> None:
        """Have requests answered by ``handler``; made where an event loop runs."""
        self.handler = handler
        self.limits = limits
        self.refusals = refusals
        self.draining = False
        self.connections: set[Connection] = set()
        self.turned_away: Counter[str] = Counter()
        self._empty = asyncio.Event()
        self._empty.set()
        self._loop = asyncio.get_running_loop()
        self._by_address: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[Reply | Written]] = set()
        self._makes = CONNECTIONS[limits.client_address]

    def __call__(self) -> Connection:
        """Make the protocol of one accepted socket."""
        return self._makes(self, self._loop)

    @property
    def open_connections(self) -> int:
        """How many are open now."""
        return len(self.connections)

    @property
    def in_flight(self) -> int:
        """How many requests are being waited for now."""
        return len(self._tasks)

    def admit(self, connection: Connection) -> bool:
        """Count a connection in, or say that there is no room for it."""
        address = connection.address
        if len(self.connections) >= self.limits.connections:
            self.turned_away["full"] += 1
            return False
        if self._is_crowded(address):
            self.turned_away["address"] += 1
            return False
        self.connections.add(connection)
        self._empty.clear()
        self._by_address[address] += 1
        return True

    def release(self, connection: Connection) -> None:
        """Count an admitted connection out."""
        self.connections.discard(connection)
        if not self.connections:
            self._empty.set()
        self._leave(connection.address)

    def rename(self, connection: Connection, address: str) -> bool:
        """Count a connection for a client that a proxy announced; False: it has too many."""
        if self._is_crowded(address):
            self.turned_away["address"] += 1
            return False
        self._leave(connection.address)
        connection.address = address
        self._by_address[address] += 1
        return True

    def enter(self, task: asyncio.Task[Reply | Written]) -> None:
        """Count a request in that is being waited for."""
        self._tasks.add(task)

    def leave(self, task: asyncio.Task[Reply | Written]) -> None:
        """Count a request out."""
        self._tasks.discard(task)

    async def rest(self, timeout_s: float) -> bool:
        """Wait until no request is in flight; False when ``timeout_s`` was not enough."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            return False
        return True

    async def close(self, grace_s: float) -> None:
        """End every connection; what is still worked on is cancelled and waited for a moment."""
        for task in self._tasks:
            task.cancel()
        for connection in tuple(self.connections):
            connection.hang_up()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), grace_s)
        for connection in tuple(self.connections):
            connection.cut_off()

    def _is_crowded(self, address: str) -> bool:
        """Say whether an address has all the connections that it may; our proxies have more."""
        if self._by_address[address] < self.limits.connections_per_address:
            return False
        return not is_within(address, self.limits.trusted_peers)

    def _leave(self, address: str) -> None:
        """Count one less; nothing is kept of an address that has none left."""
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]
