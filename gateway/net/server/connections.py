"""The connections of one listener, counted and limited."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from gateway.core.networks import network
from gateway.net.server.peer import ServerLimits, is_within

if TYPE_CHECKING:
    from gateway.net.server.front import Front


class Connections:
    """
    Limits and counts of connections.

    Attributes:
        draining: Set once. From then on new requests are refused with
            ``SVC.GTW.006`` and every answer ends its connection.
        turned_away: Connections closed on arrival since the start, by reason:
            ``full`` (too many in all), ``address`` (too many of one network),
            ``descriptors`` (this process may not open many more files),
            ``peer`` (not from one of our proxies).
        in_flight: Requests that are served now.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self.limits = limits
        self.draining = False
        self.turned_away: Counter[str] = Counter()
        self._open: dict[Front, str] = {}  # with the place that each counts under
        self.in_flight = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._by_place: Counter[str] = Counter()

    @property
    def open_connections(self) -> int:
        """How many are open now, including those that are being closed."""
        return len(self._open)

    def admit(self, front: Front, descriptor: int = -1) -> bool:
        """Count a new connection; False if there is no room for it."""
        if descriptor >= self.limits.descriptors:
            self.turned_away["descriptors"] += 1
            return False
        if len(self._open) >= self.limits.connections:
            self.turned_away["full"] += 1
            return False
        return self._is_counted(front, front.address)

    def release(self, front: Front) -> None:
        """Uncount a connection; one that was not admitted does not count."""
        place = self._open.pop(front, None)
        if place is not None:
            self._by_place[place] -= 1
            if not self._by_place[place]:
                del self._by_place[place]

    def reassign(self, front: Front, address: str) -> bool:
        """Count a connection for the client that a proxy named; False if it has too many."""
        if not self._is_counted(front, address):
            return False
        front.address = address
        return True

    def begin_request(self) -> None:
        """Count a request that is served."""
        self.in_flight += 1
        self._is_idle.clear()

    def end_request(self) -> None:
        """Count it no longer."""
        self.in_flight -= 1
        if not self.in_flight:
            self._is_idle.set()

    async def wait_idle(self, timeout_s: float) -> bool:
        """Wait until no request is in flight; False if ``timeout_s`` was not enough."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_idle.wait()
        return not self.in_flight

    async def cancel(self, grace_s: float) -> None:
        """Cancel what the lane serves, and let it end."""
        cancelled = [task for front in self._open if (task := front.cancel()) is not None]
        if cancelled:
            await asyncio.wait(cancelled, timeout=grace_s)

    def abort(self) -> None:
        """Close every connection at once; unsent bytes are lost."""
        for front in tuple(self._open):
            front.abort()

    def _place(self, address: str) -> str:
        """
        Return the counting key of an address: its network; one of our proxies by itself.

        Else who has a /64 of IPv6 would have as many connections as addresses, and a proxy
        would use up those of its neighbours.
        """
        is_proxy = ":" in address and is_within(address, self.limits.trusted_peers)
        return address if is_proxy else network(address)

    def _is_counted(self, front: Front, address: str) -> bool:
        """Count under an address, unless it has its maximum; our proxies may have more."""
        place = self._place(address)
        if self._by_place[place] >= self.limits.connections_per_address and not is_within(
            place, self.limits.trusted_peers
        ):
            self.turned_away["address"] += 1
            return False
        self.release(front)
        self._open[front] = place
        self._by_place[place] += 1
        return True
