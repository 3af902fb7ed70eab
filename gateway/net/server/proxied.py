"""Connections from our own proxies, which tell us the client's address."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from gateway.net.server.client_address import (
    FORWARDED,
    ClientAddress,
    forwarded_address,
    is_within,
)
from gateway.net.server.connection import Connection
from gateway.net.server.proxy_protocol import MalformedProxyHeader, read_proxy_header
from gateway.net.server.request import MalformedBody, Request

if TYPE_CHECKING:
    from gateway.net.server.http_server import HttpServer


class ForwardedConnection(Connection):
    """Takes the client's address from each request if the peer is one of our proxies."""

    __slots__ = ("_is_proxy",)

    def __init__(self, server: HttpServer, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for ``connection_made``."""
        super().__init__(server, loop)
        self._is_proxy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start, and check the peer once for all its requests."""
        super().connection_made(transport)
        self._is_proxy = is_within(self.address, self.server.limits.trusted_peers)

    def _dispatch(self, request: Request) -> None:
        """Set the client's address, then call the application."""
        if self._is_proxy:
            lines = request.headers.getall(FORWARDED, ())
            trusted = self.server.limits.trusted_peers
            request.address = forwarded_address(lines, self.address, trusted)
        super()._dispatch(request)


class ProxiedConnection(Connection):
    """
    Takes the client's address from a PROXY header, which must come before the first request.

    A peer that is not one of our proxies, and one that begins with anything else, is
    disconnected without an answer: we do not know whom we would answer.
    """

    __slots__ = ("_received",)

    def __init__(self, server: HttpServer, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for ``connection_made``."""
        super().__init__(server, loop)
        # Bytes of a header that is not complete; None once it has been read.
        self._received: bytearray | None = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start; the deadline for the first request's headers includes the PROXY header."""
        super().connection_made(transport)
        if not is_within(self.address, self.server.limits.trusted_peers):
            self.server.turned_away["peer"] += 1
            self._reject()

    def data_received(self, data: bytes) -> None:
        """Read the PROXY header, then requests."""
        if self._received is None or self._queue.closed:
            super().data_received(data)
            return
        self._received += data
        try:
            header = read_proxy_header(bytes(self._received))
        except MalformedProxyHeader:
            self._reject()
            return
        if header is None:
            return
        self._received = None
        if header.address and not self.server.reassign(self, header.address):
            self._reject()
        elif header.rest:
            super().data_received(header.rest)

    def _reject(self) -> None:
        """Disconnect before anything is read as a request."""
        self._queue.close(MalformedBody())
        self.abort()


CONNECTIONS: Final[dict[ClientAddress, type[Connection]]] = {
    "peer": Connection,
    "forwarded": ForwardedConnection,
    "proxy_protocol": ProxiedConnection,
}
"""By where the client's address comes from."""
