"""The connections of one listener: counted, bounded, and known while they work."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import ip_address

from aiohttp import web

from gateway.http.wire.connection import Connection
from gateway.http.wire.limits import WireLimits
from gateway.http.wire.refusals import Refusals
from gateway.http.wire.request import Build, understand

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class WireServer(web.Server):
    """
    Makes a connection for each caller that may have one.

    Attributes:
        draining: Set once; from then on new requests are refused with
            ``SVC.GTW.006`` and every answer ends its connection.
        open_connections: Open now, those being closed included.
        turned_away: Closed on arrival since the start, for want of room.
        in_flight: Requests being answered now.
    """

    def __init__(
        self, handler: Handler, build: Build, limits: WireLimits, refusals: Refusals
    ) -> None:
        super().__init__(handler, request_factory=partial(understand, build, limits))
        self.limits = limits
        self.refusals = refusals
        self.draining = False
        self.open_connections = 0
        self.turned_away = 0
        self.in_flight = 0
        self._by_address: Counter[str] = Counter()
        self._rested: asyncio.Future[None] | None = None

    def __call__(self) -> Connection:
        """Make the protocol of one accepted socket."""
        return Connection(self, self._loop)

    def admit(self, address: str) -> bool:
        """Count a connection in, or say that there is no room for it."""
        crowded = self._by_address[address] >= self.limits.connections_per_address
        full = self.open_connections >= self.limits.connections
        if full or (crowded and not self._is_trusted(address)):
            self.turned_away += 1
            return False
        self.open_connections += 1
        self._by_address[address] += 1
        return True

    def release(self, address: str) -> None:
        """Count an admitted connection out."""
        self.open_connections -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def enter(self) -> None:
        """Count a request in."""
        self.in_flight += 1

    def leave(self) -> None:
        """Count a request out."""
        self.in_flight -= 1
        if self._rested is not None and not self.in_flight:
            self._rested.set_result(None)
            self._rested = None

    async def rest(self, timeout_s: float) -> bool:
        """Wait until no request is in flight; False when ``timeout_s`` was not enough."""
        if not self.in_flight:
            return True
        if self._rested is None:
            self._rested = self._loop.create_future()
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.shield(self._rested)
        except TimeoutError:
            return False
        return True

    def _is_trusted(self, address: str) -> bool:
        try:
            peer = ip_address(address)
        except ValueError:
            return False
        return any(peer in network for network in self.limits.trusted_peers)
