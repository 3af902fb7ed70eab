"""Connections of our own proxies, which say for whom they ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from gateway.net.server.body import MalformedBody
from gateway.net.server.client_address import (
    FORWARDED,
    ClientAddress,
    forwarded_address,
    is_within,
)
from gateway.net.server.connection import Connection
from gateway.net.server.proxy_protocol import MalformedProxyHeader, read_proxy_header

if TYPE_CHECKING:
    from gateway.net.server.http_server import WireServer
    from gateway.net.server.request import Request


class ForwardedConnection(Connection):
    """Takes the client's address from each request, where the peer is a proxy of ours."""

    __slots__ = ("_is_proxy",)

    def __init__(self, server: WireServer, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for ``connection_made``."""
        super().__init__(server, loop)
        self._is_proxy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, and look at who is at the other end once for all of its requests."""
        super().connection_made(transport)
        self._is_proxy = is_within(self.address, self.server.limits.trusted_peers)

    def _ask(self, request: Request) -> None:
        """Name the client, then ask the application."""
        if self._is_proxy:
            lines = request.headers.getall(FORWARDED, ())
            trusted = self.server.limits.trusted_peers
            request.address = forwarded_address(lines, self.address, trusted)
        super()._ask(request)


class ProxiedConnection(Connection):
    """
    Takes the client's address from a PROXY header, which must come before the first request.

    Who is no proxy of ours, and whatever begins otherwise, is hung up on without a
    word: there is nobody to answer whose address we know.
    """

    __slots__ = ("_announcing",)

    def __init__(self, server: WireServer, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for ``connection_made``."""
        super().__init__(server, loop)
        self._announcing: bytearray | None = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; the time for the first request's headers runs for the PROXY header too."""
        super().connection_made(transport)
        if not is_within(self.address, self.server.limits.trusted_peers):
            self.server.turned_away["peer"] += 1
            self._turn_away()

    def data_received(self, data: bytes) -> None:
        """Read the PROXY header, then requests."""
        if self._announcing is None or self._inbox.deaf:
            super().data_received(data)
            return
        self._announcing += data
        try:
            announced = read_proxy_header(bytes(self._announcing))
        except MalformedProxyHeader:
            self._turn_away()
            return
        if announced is None:
            return
        self._announcing = None
        if announced.address and not self.server.rename(self, announced.address):
            self._turn_away()
        elif announced.rest:
            super().data_received(announced.rest)

    def _turn_away(self) -> None:
        """End before anything is read as a request."""
        self._inbox.close(MalformedBody())
        self.cut_off()


CONNECTIONS: Final[dict[ClientAddress, type[Connection]]] = {
    "peer": Connection,
    "forwarded": ForwardedConnection,
    "proxy_protocol": ProxiedConnection,
}
"""By who tells the client's address."""
