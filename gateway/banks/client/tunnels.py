"""
Connections to a bank through a proxy (CONNECT).

A request is written only after the proxy has accepted and, for an https address, TLS with the bank
itself is established: the bank's name is checked, and our certificate is shown to the bank, not to
the proxy. So after any failure here, the request was certainly not sent.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final, cast

from yarl import URL

from gateway.banks.client.connection import Connection
from gateway.banks.client.tls import ResumingContext
from gateway.net.common.runtime import Proxy

# A proxy's answer is a few lines; one with a page for people behind them is no yes.
_HEAD_BYTES: Final = 8192
_END: Final = b"\r\n\r\n"
_YES: Final = re.compile(rb"HTTP/1\.[01] 2[0-9]{2}[ \r]")


class ProxyRefused(ConnectionError):
    """The proxy did not connect us."""


async def open_through(
    proxy: Proxy,
    address: str,
    connection: Connection,
    to: URL,
    context: ResumingContext | None,
) -> None:
    """
    Connect to the bank through a proxy at ``address``.

    Raises:
        ProxyRefused: The proxy refused, or its answer is malformed.
        OSError: As ``create_connection``, for the proxy and for TLS with the bank.
    """
    loop = asyncio.get_running_loop()
    tunnel = _Tunnel(loop)
    made, _ = await loop.create_connection(lambda: tunnel, address, proxy.port)
    transport: asyncio.Transport | None = made
    try:
        made.write(_request(proxy, to))
        await tunnel.opened
        # The loop's type allows for a transport that was closed in the meantime.
        if context is not None:
            transport = await loop.start_tls(made, tunnel, context, server_hostname=to.raw_host)
    except BaseException:
        made.abort()
        raise
    if transport is None or not tunnel.is_quiet:
        made.abort()
        raise ProxyRefused
    connection.connection_made(transport)
    transport.set_protocol(connection)


def _request(proxy: Proxy, to: URL) -> bytes:
    """Write the CONNECT request; the bank's port is always named (RFC 9110, 9.3.6)."""
    at = f"{to.host_subcomponent}:{to.port}"
    lines = [f"CONNECT {at} HTTP/1.1", f"Host: {at}", "User-Agent: pixgate"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    return "\r\n".join([*lines, "", ""]).encode()


class _Tunnel(asyncio.Protocol):
    """
    Reads the proxy's answer; no byte may follow before we write.

    Attributes:
        opened: Done when the proxy has accepted.
        is_quiet: Whether it is open and received no unexpected bytes.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.opened: asyncio.Future[None] = loop.create_future()
        self.is_quiet = True
        self._head = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the socket."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Read the answer's head; a body after an acceptance would be the bank's first bytes."""
        if self.opened.done():
            self.is_quiet = False
            return
        self._head += data
        if _END not in self._head and len(self._head) <= _HEAD_BYTES:
            return
        if _YES.match(self._head) and self._head.find(_END) == len(self._head) - len(_END):
            self.opened.set_result(None)
        else:
            self._refuse()

    def eof_received(self) -> None:
        """Note the end."""
        self._refuse()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Note the end."""
        self._refuse()

    def _refuse(self) -> None:
        self.is_quiet = False
        if not self.opened.done():
            self.opened.set_exception(ProxyRefused())
            self.opened.exception()  # retrieved: nobody may wait for it any more
        if self._transport is not None:
            self._transport.abort()
