"""From a bank's host name to an open connection, within the time for connecting."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final

from yarl import URL

from gateway.banks.client.addresses import read_literal, require_public
from gateway.banks.client.connection import Connection
from gateway.banks.client.tls import ResumingContext
from gateway.banks.client.tunnels import ProxyRefused, open_through
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.account import Environment
from gateway.net.common.certificates import refuses_ours
from gateway.net.common.descriptors import descriptor_limit, ours_below
from gateway.net.common.runtime import Runtime

NEXT_S: Final = 0.25
"""RFC 8305, section 5: "Connection Attempt Delay"; a bank in this country answers in a tenth."""


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
        self._asked_host = self._host if runtime.proxy is None else runtime.proxy.host
        self._name = runtime.names.of(self._asked_host)
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
            if read_literal(self._asked_host):
                return (self._asked_host,)
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
