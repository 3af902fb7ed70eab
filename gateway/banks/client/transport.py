"""
Our HTTP/1.1 client for banks: one write for each call.

Reads share idle connections. A call that moves money has a connection to itself, so that
no late answer to one call can be taken for the answer to another.

It follows no redirect, keeps no cookie, reads no proxy from the environment (only from the
provider's settings), asks for no compressed answer, and sends nothing twice: a call that fails
on an idle connection has failed, and the caller decides whether to repeat it.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from yarl import URL

from gateway.banks.client.connection import Connection, send_split
from gateway.banks.client.connector import Connector
from gateway.banks.client.messages import (
    ProviderAnswer,
    ProviderRequest,
    RequestWriter,
    SendProgress,
    SendRefused,
)
from gateway.banks.client.pool import Pool, WarmConnections
from gateway.banks.client.tls import TlsCredentials, TlsFiles, TlsFilesRefused, TlsSetup
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core import trace
from gateway.core.account import Environment
from gateway.net.common.runtime import Runtime

LONGEST_S: Final = 600.0
"""No call lasts longer, whatever its limits say."""


class Transport(Protocol):
    """Carries one request to one bank, once; small enough to be replaced."""

    async def start(self) -> None:
        """Open what needs an event loop."""

    async def close(self) -> None:
        """Close every connection."""

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """
        Send a request and read the whole answer, whatever its status.

        Reports its progress to ``progress``, and asks it in the step that writes the
        first byte. Ends within ``within_s`` seconds; the caller may cancel it at any
        point before.

        Raises:
            ProviderError: Unreachable when no byte left, else Unavailable or
                BadReply; with the reason ``timeout`` when the time is over.
        """


class TransportLimits(Protocol):
    """Limits of one provider's connections."""

    @property
    def connections(self) -> int:
        """Maximum of open connections, without those opened ahead for payouts."""

    @property
    def connect_s(self) -> float:
        """Name resolution, connection and TLS together."""

    @property
    def first_byte_s(self) -> float | None:
        """Seconds from the written request to the first byte of the answer; None: no own limit."""

    @property
    def answer_bytes(self) -> int:
        """The largest answer that is read."""

    @property
    def payout_connections(self) -> int:
        """Opened ahead for payouts; 0 opens none."""


class HttpTransport:
    """
    The transport of one provider; see ``Transport``.

    A call on an idle connection needs no timer of its own; see ``LazyTimer``. Connecting
    has timers, which end before the request is written.

    Args:
        base_url: Ends without a slash.
        runtime: Clocks; a ``failpoint`` has calls that move money written in two halves.
        tls: Files for an https URL, or all that such a connection trusts and shows.
    """

    def __init__(
        self,
        base_url: str,
        limits: TransportLimits,
        environment: Environment,
        runtime: Runtime | None = None,
        tls: TlsFiles | TlsSetup | None = None,
    ) -> None:
        self._base = URL(base_url)
        self._limits = limits
        self._runtime = runtime = runtime or Runtime()
        self._tls = tls if isinstance(tls, TlsSetup) else TlsSetup(files=tls or TlsFiles())
        self._writer = RequestWriter(self._base, trace.outgoing)
        self._connector = Connector(self._base, environment, limits.connect_s, runtime)
        self._pool = Pool(limits.connections, limits.answer_bytes, runtime.random)
        ahead = partial(self._opened, single=True, ahead=True)
        self._warm = WarmConnections(self._pool, limits.payout_connections, ahead)
        self._credentials = (
            TlsCredentials(self._tls, runtime.now, runtime.clock, self._on_renewed)
            if self._base.scheme == "https"
            else None
        )

    async def start(self) -> None:
        """
        Read the TLS files; connections are opened when they are needed.

        Raises:
            TlsFilesRefused: the TLS files cannot be used.
        """
        if self._credentials is not None:
            await self._credentials.start()
        elif self._tls.paths():
            message = "tls: the bank's address is not https"
            raise TlsFilesRefused(message)
        self._pool.is_open = True

    async def close(self) -> None:
        """Close every connection; calls in flight fail as if the bank had closed theirs."""
        await self._warm.close()
        await self._pool.close()
        if self._credentials is not None:
            self._credentials.close()

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """Send a request and read the whole answer; see ``Transport.call``."""
        if not self._pool.is_open:
            raise Unreachable(Reason.CLOSED)
        moves_money = progress.send_by is not None
        failpoint = self._runtime.failpoint if moves_money else None
        loop = asyncio.get_running_loop()
        by = loop.time() + within_s
        if failpoint is not None:
            failpoint("before_connect")
        progress.connecting()
        try:
            data = self._writer.write(request, last=moves_money)
            connection = await self._ready(progress, within_s)
            try:
                progress.connected()
                deadlines = (loop.time() + (self._limits.first_byte_s or LONGEST_S), by)
                if failpoint is not None:
                    return await send_split(connection, data, progress, deadlines, failpoint)
                return await connection.send(data, progress, progress.answered, *deadlines)
            finally:
                self._pool.give(connection)
        except SendRefused as problem:
            raise Unreachable(Reason.DEADLINE_PASSED) from problem
        finally:
            progress.end()

    def drop_idle(self) -> None:
        """Close the connections that no call uses."""
        self._pool.drop_idle()

    def _on_renewed(self, ends: datetime | None) -> None:
        """Use connections made with the former files for no further call."""
        self._pool.renew()
        self._warm.drop()
        if ends is not None and self._runtime.on_certificate is not None:
            self._runtime.on_certificate(ends)

    async def _ready(self, progress: SendProgress, within_s: float) -> Connection:
        """
        Return a connection for one call; if that fails, nothing of the request was sent.

        An idle one was checked just now: nothing is awaited before the write. A call that moves
        money never gets one that carried another call.
        """
        moves_money = progress.send_by is not None
        idle = None if moves_money else self._pool.take(self._pool.idle)
        if idle is not None:
            return idle
        try:
            async with asyncio.timeout(within_s):
                await self._check_certificate(progress, moves_money=moves_money)
                if not moves_money:
                    return await self._opened()
                connection = self._warm.take() or await self._opened(single=True)
                self._warm.refill()
                return connection
        except TimeoutError as problem:
            raise Unreachable(Reason.TIMEOUT) from problem

    async def _check_certificate(self, progress: SendProgress, *, moves_money: bool) -> None:
        """Refuse a call without a valid certificate; that is no failure of the bank."""
        if self._credentials is not None:
            try:
                await self._credentials.check(moves_money=moves_money)
            except Unreachable:
                progress.refused_here = True
                raise

    async def _opened(self, *, single: bool = False, ahead: bool = False) -> Connection:
        context = await self._credentials.current() if self._credentials else None
        connect = partial(self._connector.connect, context=context)
        return await self._pool.open(connect, single=single, ahead=ahead)
