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
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Unreachable
from gateway.net.client.connection import AnswerDeadlines, Connection, send_split
from gateway.net.client.connector import Connector, read_endpoint
from gateway.net.client.messages import (
    ProviderAnswer,
    ProviderRequest,
    RequestWriter,
    SendProgress,
    SendRefused,
)
from gateway.net.client.pool import Candidates, Pool, WarmConnections
from gateway.net.client.tls import TlsCredentials, TlsFiles, TlsFilesRefused, TlsSetup
from gateway.net.common.runtime import Runtime
from gateway.telemetry import trace

LONGEST_S: Final = 600.0
"""No call lasts longer, whatever its limits say."""


class Transport(Protocol):
    """Carries one request to one bank, once; small enough to be built anew."""

    async def start(self) -> None:
        """Open what needs an event loop."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...

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
        ...


class TransportLimits(Protocol):
    """
    What one provider's connections may take.

    Attributes:
        connections: Open at once; those opened ahead for payouts come on top.
        connect_s: Name resolution, connection and TLS together.
        first_byte_s: From the request written to the answer's first byte; None
            leaves it to the whole call's time.
        answer_bytes: The largest answer that is read.
        payout_connections: Opened ahead for payouts; 0 opens none.
    """

    @property
    def connections(self) -> int:
        """See above."""
        ...

    @property
    def connect_s(self) -> float:
        """See above."""
        ...

    @property
    def first_byte_s(self) -> float | None:
        """See above."""
        ...

    @property
    def answer_bytes(self) -> int:
        """See above."""
        ...

    @property
    def payout_connections(self) -> int:
        """See above."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """What a started transport works with; ``credentials`` is None for plain HTTP."""

    loop: asyncio.AbstractEventLoop
    pool: Pool
    connector: Connector
    credentials: TlsCredentials | None
    warm: WarmConnections


class HttpTransport:
    """
    The transport of one provider; see ``Transport``.

    A call on an idle connection needs no timer of its own; see ``LazyTimer``. Connecting
    has timers, which end before the request is written.

    Args:
        base_url: Ends without a slash.
        limits: This provider's.
        environment: Decides which addresses may be reached.
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
        self._endpoint = read_endpoint(base_url)
        self._limits = limits
        self._first_byte_s = limits.first_byte_s or LONGEST_S
        self._environment = environment
        self._runtime = runtime or Runtime()
        self._tls = tls if isinstance(tls, TlsSetup) else TlsSetup(files=tls or TlsFiles())
        self._writer = RequestWriter(self._endpoint.header, self._endpoint.prefix, trace.outgoing)
        self._open: _Open | None = None

    async def start(self) -> None:
        """
        Read the TLS files; connections are opened when they are needed.

        Raises:
            TlsFilesRefused: the TLS files cannot be used.
        """
        if self._tls.paths() and not self._endpoint.secure:
            message = "tls: the bank's address is not https"
            raise TlsFilesRefused(message)
        loop = asyncio.get_running_loop()
        pool = Pool(loop, self._limits.connections, chance=self._runtime.random)
        credentials = None
        if self._endpoint.secure:
            credentials = self._credentials(pool)
            await credentials.start()
        connector = Connector(
            self._endpoint, self._environment, self._limits.connect_s, self._runtime.route
        )
        warm = WarmConnections(pool, self._limits.payout_connections, self._open_warm)
        self._open = _Open(
            loop=loop, pool=pool, connector=connector, credentials=credentials, warm=warm
        )

    async def close(self) -> None:
        """Close every connection; calls in flight fail as if the bank had closed theirs."""
        if self._open is not None:
            opened, self._open = self._open, None
            await opened.warm.close()
            await opened.pool.close()
            if opened.credentials is not None:
                opened.credentials.close()

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """Send a request and read the whole answer; see ``Transport.call``."""
        opened = self._open
        if opened is None:
            raise Unreachable(Reason.CLOSED)
        failpoint = None if progress.send_by is None else self._runtime.failpoint
        by = opened.loop.time() + within_s
        if failpoint is not None:
            failpoint("before_connect")
        progress.connecting()
        try:
            data = self._writer.write(request, last=progress.send_by is not None)
            # A call that moves money never gets an idle connection.
            idle = opened.pool.take() if progress.send_by is None else None
            connection = idle or await self._ready(opened, progress, within_s)
            try:
                progress.connected()
                deadlines = AnswerDeadlines(opened.loop.time() + self._first_byte_s, by)
                if failpoint is not None:
                    return await send_split(connection, data, progress, deadlines, failpoint)
                return await connection.send(data, progress, progress.answered, deadlines)
            finally:
                opened.pool.give(connection)
        except SendRefused as problem:
            raise Unreachable(Reason.DEADLINE_PASSED) from problem
        finally:
            progress.end()

    def _credentials(self, pool: Pool) -> TlsCredentials:
        """Make what reads the files; connections made with earlier files are not used again."""
        runtime = self._runtime

        def on_renewed(ends: datetime | None) -> None:
            pool.renew()
            if self._open is not None:
                self._open.warm.drop()
            if ends is not None and runtime.on_certificate is not None:
                runtime.on_certificate(ends)

        return TlsCredentials(self._tls, runtime.now, runtime.clock, on_renewed)

    def drop_idle(self) -> None:
        """Close the connections that no call uses."""
        if self._open is not None:
            self._open.pool.drop_idle()

    async def _ready(self, opened: _Open, progress: SendProgress, within_s: float) -> Connection:
        """Return a connection for one call; if that fails, nothing of the request was sent."""
        if opened.credentials is None and within_s > self._limits.connect_s:
            # Nothing else is waited for than the connecting, which has a time of its own.
            return await self._new(opened, progress)
        try:
            async with asyncio.timeout(within_s):
                await _check_certificate(opened.credentials, progress)
                return await self._new(opened, progress)
        except TimeoutError as problem:
            raise Unreachable(Reason.TIMEOUT) from problem

    async def _new(self, opened: _Open, progress: SendProgress) -> Connection:
        """Return a connection that this call is the first on, or the only one."""
        if progress.send_by is None:
            return await self._connected(opened)
        return await self._unused(opened)

    async def _unused(self, opened: _Open) -> Connection:
        """Return a connection that was never written to, for a call that moves money."""
        # The connection was checked just now; nothing is awaited before the write.
        connection = opened.warm.take() or await self._connected(opened, single=True)
        opened.warm.refill()
        return connection

    async def _open_warm(self) -> Connection:
        """Open a warm connection, for a payout to come."""
        if self._open is None:
            raise Unreachable(Reason.CLOSED)
        return await self._connected(self._open, single=True, ahead=True)

    async def _connected(
        self, opened: _Open, *, single: bool = False, ahead: bool = False
    ) -> Connection:
        """Open one more connection."""
        context = await opened.credentials.current() if opened.credentials else None
        if not ahead and not opened.pool.has_room():
            raise Unreachable(Reason.BULKHEAD_FULL)
        candidates = Candidates(opened.pool, self._limits.answer_bytes, single=single, ahead=ahead)
        try:
            connection = await opened.connector.connect(candidates.make, context)
        except BaseException:
            candidates.drop()
            raise
        candidates.choose(connection)
        # Under TLS the bank may have sent session tickets that the loop has not read yet.
        sound = connection.usable if context else connection.is_quiet()
        if self._open is not opened or not sound:
            opened.pool.end(connection)
            closed = self._open is not opened
            raise Unreachable(Reason.CLOSED if closed else Reason.CONNECT_FAILED)
        return connection


async def _check_certificate(credentials: TlsCredentials | None, progress: SendProgress) -> None:
    """
    Refuse a call for want of a certificate; the bank is not to blame for that.

    Money never moves without a valid one if we have one at all. A read does, unless the
    bank is known to ask for one.
    """
    if credentials is None:
        return
    await credentials.refresh()
    if progress.send_by is None and not credentials.certificate_required:
        return
    try:
        credentials.require_valid()
    except Unreachable:
        progress.refused_here = True
        raise
