"""
From a bank's host name to an open connection, within the time for connecting.

Through a proxy (CONNECT), a request is written only after the proxy has accepted and, for an https
address, TLS with the bank itself is established: the bank's name is checked, and our certificate is
shown to the bank, not to the proxy. So after any failure here, the request was certainly not sent.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import ssl
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, cast

from yarl import URL

from gateway.banks.client.addresses import read_literal, require_public
from gateway.banks.client.connection import Connection
from gateway.banks.client.tls import ResumingContext
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.account import Environment
from gateway.net.common.certificates import refuses_ours
from gateway.net.common.descriptors import descriptor_limit, ours_below
from gateway.net.common.runtime import Proxy, Runtime

NEXT_S: Final = 0.25
"""RFC 8305, section 5: "Connection Attempt Delay"; a bank in this country answers in a tenth."""
# A proxy's answer is a few lines; one with a page for people behind them is no yes.
_HEAD_BYTES: Final = 8192
_END: Final = b"\r\n\r\n"
_YES: Final = re.compile(rb"HTTP/1\.[01] 2[0-9]{2}[ \r]")


class Connector:
    """
    Opens connections to one endpoint, through the provider's proxy if it has one.

    A name's addresses are tried in turn: the next when the previous one has failed or has taken
    0.25 s. Every address is checked before use, literal ones too. A proxy is our own, and resolves
    the bank's name itself.
    """

    def __init__(
        self, to: URL, environment: Environment, connect_s: float, runtime: Runtime
    ) -> None:
        self._to = to
        self._connect_s = connect_s
        self._proxy = runtime.proxy
        self._host = to.raw_host or ""
        self._lookup_host = self._host if runtime.proxy is None else runtime.proxy.host
        self._name = runtime.names.of(self._lookup_host)
        self._must_check = environment is not Environment.SANDBOX

    async def connect(
        self, make: Callable[[], Connection], context: ResumingContext | None
    ) -> Connection:
        """
        Connect, with TLS if there is a context; other attempts are closed.

        Raises:
            Unreachable: ``dns_failed``, ``connect_failed``, ``connect_timeout``,
                ``proxy_refused``, ``certificate_refused`` or ``tls_failed``. No byte of a
                request was sent.
        """
        attempts: list[Connection] = []
        won = None

        async def attempt(host: str) -> Connection:
            attempts.append(make())
            return await self._connect(attempts[-1], host, context)

        try:
            async with asyncio.timeout(self._connect_s):
                hosts = await self._addresses()
                if len(hosts) == 1:  # which needs no task
                    found = await attempt(hosts[0])
                else:
                    found = await first_to_succeed([partial(attempt, host) for host in hosts])
                    _require_sound(found, context)  # the others took a moment to end
                won = found
                return won
        except TimeoutError as problem:
            self._name.look_again()
            raise Unreachable(Reason.CONNECT_TIMEOUT) from problem
        except (OSError, ValueError) as problem:
            self._name.look_again()
            raise Unreachable(_reason(problem)) from problem
        finally:
            for each in attempts:
                if each is not won:
                    each.abort()

    async def _connect(
        self, connection: Connection, host: str, context: ResumingContext | None
    ) -> Connection:
        try:
            if self._proxy is not None:
                await open_through(self._proxy, host, connection, self._to, context)
            else:
                await asyncio.get_running_loop().create_connection(
                    lambda: connection,
                    host,
                    self._to.port or 0,
                    ssl=context,
                    server_hostname=self._to.raw_host if context else None,
                )
        except (ssl.SSLError, ConnectionResetError):
            if context is not None:
                context.forget_sessions()
            raise
        if connection.descriptor >= ours_below(descriptor_limit()):  # the operations listener's
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        _require_sound(connection, context)
        return connection

    async def _addresses(self) -> Sequence[str]:
        """Return the addresses to connect to: the bank's, checked, or the proxy's."""
        try:
            if self._must_check and read_literal(self._host):
                require_public([self._host])
            if read_literal(self._lookup_host):
                return (self._lookup_host,)
            found = await self._name.addresses()
            if self._must_check and self._proxy is None:
                require_public(found)
        except (OSError, ValueError) as problem:
            raise Unreachable(Reason.DNS_FAILED) from problem
        return found


async def first_to_succeed(
    attempts: Sequence[Callable[[], Coroutine[Any, Any, Connection]]],
) -> Connection:
    """
    Return the result of the first attempt that succeeds; cancel the others.

    An attempt starts when the previous one has failed or has taken 0.25 s. A second result in the
    same instant is dropped: its attempt must clean up itself.

    Raises:
        Exception: The last failure, when all have failed.
    """
    waiting = deque(attempts)
    running: set[asyncio.Task[Connection]] = set()
    try:
        while True:
            if waiting:
                running.add(asyncio.create_task(waiting.popleft()()))  # noqa: TID251 - ended below
            done, running = await asyncio.wait(
                running,
                timeout=NEXT_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            good = [task for task in done if task.exception() is None]
            if good:
                return good[0].result()
            if done and not waiting and not running:
                return done.pop().result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _require_sound(connection: Connection, context: ResumingContext | None) -> None:
    """
    Raise ConnectionResetError for a new connection that is closed, or on which bytes came.

    Under TLS the bank may have sent session tickets that the loop has not read yet.
    """
    if not (connection.usable if context else connection.is_quiet()):
        raise ConnectionResetError


def _reason(problem: Exception) -> Reason:
    if isinstance(problem, ProxyRefused):
        return Reason.PROXY_REFUSED
    if refuses_ours(problem):
        return Reason.CERTIFICATE_REFUSED
    return Reason.TLS_FAILED if isinstance(problem, ssl.SSLError) else Reason.CONNECT_FAILED


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
        self._refuse()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._refuse()

    def _refuse(self) -> None:
        self.is_quiet = False
        if not self.opened.done():
            self.opened.set_exception(ProxyRefused())
            self.opened.exception()  # retrieved: nobody may wait for it any more
        if self._transport is not None:
            self._transport.abort()
