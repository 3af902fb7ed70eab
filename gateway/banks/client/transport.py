"""
Our HTTP/1.1 client for banks: one write for each call.

Reads share idle connections. A call that moves money has a connection to itself, so that
no late answer to one call can be taken for the answer to another.

It follows no redirect, keeps no cookie, reads no proxy from the environment (only from the
provider's settings), requests no compressed answer, and sends nothing twice: a call that fails
on an idle connection has failed, and the caller decides whether to repeat it.

A bank that identifies accounts by certificate has one transport per account: connections, TLS
contexts and resumed sessions belong to one account and one certificate, so that no call uses
another account's connection.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections import OrderedDict
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from yarl import URL

from gateway.banks.client.connection import Connection, send_split
from gateway.banks.client.connector import Connector
from gateway.banks.client.messages import (
    Identity,
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
from gateway.net.common.certificates import NoMemoryFiles, require_memory_files
from gateway.net.common.runtime import Runtime

LONGEST_S: Final = 600.0
"""No call lasts longer, whatever its limits say."""

MOST_ACCOUNTS: Final = 256
"""Open at once. With ``tls.ca`` a context has some 25 KiB, so that they stay below 7 MiB."""

_ACCOUNT_SESSIONS: Final = 2
"""An account has few calls at once; each session holds the bank's certificates, some 6 KiB."""


class Transport(Protocol):
    """Carries one request to one bank, once; small enough to be replaced."""

    async def start(self) -> None:
        """Open resources that need an event loop."""

    async def close(self) -> None:
        """Close every connection."""

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """
        Send a request and read the whole answer, of any status.

        Reports its progress to ``progress``, which may refuse in the step that writes the
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
        ahead = partial(self._open, single=True, ahead=True)
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
                    return await self._open()
                connection = self._warm.take() or await self._open(single=True)
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

    async def _open(self, *, single: bool = False, ahead: bool = False) -> Connection:
        context = await self._credentials.current() if self._credentials else None
        connect = partial(self._connector.connect, context=context)
        return await self._pool.open(connect, single=single, ahead=ahead)


@dataclasses.dataclass(slots=True, eq=False)
class _AccountTransport:
    """The transport of one account, and its use."""

    identity: Identity
    transport: HttpTransport
    opening: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    is_open: bool = False
    calls: int = 0


class AccountTransports:
    """
    Makes a transport when an account needs one; at most 256 are open. A ``Transport``.

    The one not used for longest is closed for another account; one with a call in flight
    never is. When an account's certificate changes, calls in flight finish on the former
    one, and all later calls use the new one. A request without an identity, such as a
    probe, has connections of its own.

    Args:
        tls: Settings common to all accounts; ``certificate_required`` refuses a call of
            an account without a valid certificate before anything is opened.
    """

    def __init__(
        self,
        base_url: str,
        limits: TransportLimits,
        environment: Environment,
        runtime: Runtime | None = None,
        tls: TlsSetup | None = None,
    ) -> None:
        self._base_url = base_url
        self._limits = limits
        self._environment = environment
        self._runtime = runtime or Runtime()
        self._tls = tls or TlsSetup()
        without = dataclasses.replace(self._tls, certificate_required=False)
        self._shared = HttpTransport(base_url, limits, environment, self._runtime, without)
        self._accounts: OrderedDict[str, _AccountTransport] = OrderedDict()
        self._retired: set[_AccountTransport] = set()
        self._idle: OrderedDict[str, _AccountTransport] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()
        self._is_open = False

    def __len__(self) -> int:
        return len(self._accounts) + len(self._retired)

    async def start(self) -> None:
        """
        Read the files that all accounts share; each account's own follow on first use.

        Raises:
            TlsFilesRefused: see ``HttpTransport``.
            NoMemoryFiles: certificates cannot be used from memory here.
        """
        if self._tls.certificate_required:
            require_memory_files()
        await self._shared.start()
        self._is_open = True

    async def close(self) -> None:
        """Close every connection of every account."""
        self._is_open = False
        every = [*self._accounts.values(), *self._retired]
        self._accounts.clear()
        self._retired.clear()
        self._idle.clear()
        closing = [each.transport.close() for each in every]
        await asyncio.gather(self._shared.close(), *closing, *self._closing)

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """Send a request on a connection of its account; see ``Transport.call``."""
        if request.identity is None:
            return await self._shared.call(request, progress, within_s)
        loop = asyncio.get_running_loop()
        by = loop.time() + within_s
        try:
            one = self._transport_of(request.identity)
        except Unreachable:
            progress.refused_here = True  # by us: the bank is not to blame
            raise
        one.calls += 1
        try:
            await self._open(one, progress, within_s)
            return await one.transport.call(request, progress, by - loop.time())
        finally:
            one.calls -= 1
            self._release(one)
            progress.end()

    def _transport_of(self, identity: Identity) -> _AccountTransport:
        """
        Return an account's transport for its current certificate.

        Raises:
            Unreachable: ``certificate_missing``, ``bulkhead_full`` when all 256 are in use,
                or ``closed``.
        """
        if not self._is_open:
            raise Unreachable(Reason.CLOSED)
        if identity.pair is None and self._tls.certificate_required:
            raise Unreachable(Reason.CERTIFICATE_MISSING)
        one = self._accounts.get(identity.account_id)
        if one is not None and one.identity == identity:
            self._accounts.move_to_end(identity.account_id)
            return one
        if one is not None:
            self._retire(one)
        if len(self) >= MOST_ACCOUNTS:
            self._retire(self._longest_unused())
        one = _AccountTransport(identity, self._build(identity))
        self._accounts[identity.account_id] = one
        return one

    def _build(self, identity: Identity) -> HttpTransport:
        """Build a transport; the account's expiry must not count as the provider's."""
        runtime = dataclasses.replace(self._runtime, on_certificate=None)
        files = TlsFiles(ca_file=self._tls.files.ca_file)
        setup = dataclasses.replace(
            self._tls, files=files, pair=identity.pair, sessions=_ACCOUNT_SESSIONS
        )
        return HttpTransport(self._base_url, self._limits, self._environment, runtime, setup)

    async def _open(self, one: _AccountTransport, progress: SendProgress, within_s: float) -> None:
        """Build the TLS context for an account's first call; concurrent calls wait."""
        if one.is_open:
            return
        try:
            async with asyncio.timeout(within_s), one.opening:
                if not one.is_open:
                    await one.transport.start()
                    one.is_open = True
        except TimeoutError as problem:
            raise Unreachable(Reason.TIMEOUT) from problem
        except (TlsFilesRefused, NoMemoryFiles) as problem:
            progress.refused_here = True
            raise Unreachable(Reason.TLS_FAILED) from problem

    def _longest_unused(self) -> _AccountTransport:
        """Return the least recently used transport; raises ``Unreachable`` when all are in use."""
        for one in self._accounts.values():
            if not one.calls:
                return one
        raise Unreachable(Reason.BULKHEAD_FULL)

    def _retire(self, one: _AccountTransport) -> None:
        """Retire a transport: no further calls, and closed as soon as its last call has ended."""
        del self._accounts[one.identity.account_id]
        self._idle.pop(one.identity.account_id, None)
        self._retired.add(one)
        self._close_if_done(one)

    def _release(self, one: _AccountTransport) -> None:
        """Limit idle connections to as many accounts as there may be calls."""
        if one in self._retired or not self._is_open:
            self._close_if_done(one)
            return
        self._idle[one.identity.account_id] = one
        self._idle.move_to_end(one.identity.account_id)
        if len(self._idle) > self._limits.connections:
            _, longest = self._idle.popitem(last=False)
            longest.transport.drop_idle()

    def _close_if_done(self, one: _AccountTransport) -> None:
        if one.calls or one not in self._retired:
            return
        self._retired.discard(one)
        task = asyncio.get_running_loop().create_task(one.transport.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
