"""
Our own road to a bank: HTTP/1.1, one write for each call.

Reads share kept connections. A call that moves money has a connection to itself: no late
answer to an earlier call can be taken for its own, and none of its own for a later one's.

It follows no redirect, keeps no cookie, reads no proxy from the environment,
takes no compressed answer, and sends nothing twice: a call that dies on a kept
connection has died, and whether it may be repeated is the caller's to say.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.providers import Unreachable
from gateway.net.client import split_write
from gateway.net.client.connection import Line, Until
from gateway.net.client.connector import Dialler, place
from gateway.net.client.messages import ProviderAnswer, ProviderRequest
from gateway.net.client.parser import require_parser
from gateway.net.client.pool import Pool
from gateway.net.client.reasons import Reason
from gateway.net.client.request_writer import Heads
from gateway.net.client.send_progress import Passage, SendRefused
from gateway.net.client.tls import Credentials, TlsFiles, TlsFilesRefused
from gateway.net.client.warm_connections import Spares
from gateway.net.common.runtime import Surroundings
from gateway.telemetry import traceparent

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
        self, request: ProviderRequest, passage: Passage, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """
        Send a request and read the whole answer, whatever its status.

        Reports its progress to ``passage``, and asks it in the step that writes the
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
    """What a started transport works with; ``credentials`` is None where nothing is encrypted."""

    loop: asyncio.AbstractEventLoop
    pool: Pool
    dialler: Dialler
    credentials: Credentials | None
    spares: Spares


class WireTransport:
    """
    The transport of one provider; see ``Transport``.

    On a kept connection its timer is the only one, wound up once in many calls;
    connecting has timers of its own, which end before the request is written.

    Args:
        base_url: Ends without a slash.
        limits: Of this provider.
        environment: Decides which addresses may be reached.
        around: Clocks; with ``passing`` a money call is written in two split_write.
        tls: Files for an https address.
    """

    def __init__(
        self,
        base_url: str,
        limits: TransportLimits,
        environment: Environment,
        around: Surroundings | None = None,
        tls: TlsFiles | None = None,
    ) -> None:
        self._place = place(base_url)
        self._limits = limits
        self._first_byte_s = limits.first_byte_s or LONGEST_S
        self._environment = environment
        self._around = around or Surroundings()
        self._tls = tls or TlsFiles()
        self._heads = Heads(self._place.header, self._place.prefix, traceparent.outgoing)
        self._open: _Open | None = None

    async def start(self) -> None:
        """
        Read the TLS files; connections are opened when they are needed.

        Raises:
            UnfitParser: aiohttp's parser is not the proven one.
            TlsFilesRefused: the TLS files cannot be used.
        """
        require_parser()
        if self._tls.paths() and not self._place.secure:
            message = "TLS files: the bank's address is not https"
            raise TlsFilesRefused(message)
        loop = asyncio.get_running_loop()
        pool = Pool(loop, self._limits.connections)
        credentials = None
        if self._place.secure:
            credentials = self._credentials(pool)
            await credentials.start()
        dialler = Dialler(self._place, self._environment, self._limits.connect_s)
        spares = Spares(pool, self._limits.payout_connections, self._spare)
        self._open = _Open(
            loop=loop, pool=pool, dialler=dialler, credentials=credentials, spares=spares
        )

    async def close(self) -> None:
        """Close every connection; calls in flight fail as if the bank had closed."""
        if self._open is not None:
            opened, self._open = self._open, None
            await opened.spares.close()
            await opened.pool.close()
            await opened.dialler.close()

    async def call(
        self, request: ProviderRequest, passage: Passage, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """Send a request and read the whole answer; see ``Transport.call``."""
        opened = self._open
        if opened is None:
            raise Unreachable(Reason.CLOSED)
        watch = None if passage.send_by is None else self._around.passing
        by = opened.loop.time() + within_s
        _pass(watch, "before_connect")
        passage.connecting()
        try:
            data = self._heads.write(request, last=passage.send_by is not None)
            line = _kept(opened, passage) or await self._ready(opened, passage, within_s)
            try:
                passage.connected()
                _pass(watch, "after_connect")
                until = Until(opened.loop.time() + self._first_byte_s, by)
                if watch is not None:
                    return await split_write.exchanged(line, data, passage, until, watch)
                return await line.send(data, passage, passage.answered, until)
            finally:
                opened.pool.give(line)
        except SendRefused as problem:
            raise Unreachable(Reason.DEADLINE_PASSED) from problem
        finally:
            passage.end()

    def _credentials(self, pool: Pool) -> Credentials:
        """Make what reads the files; connections made with former ones are not used again."""
        around = self._around

        def renewed(ends: datetime | None) -> None:
            pool.renew()
            if self._open is not None:
                self._open.spares.drop()
            if ends is not None and around.certified is not None:
                around.certified(ends)

        return Credentials(self._tls, around.now, around.clock, renewed)

    async def _ready(self, opened: _Open, passage: Passage, within_s: float) -> Line:
        """Return a connection for one call; nothing of the request has been sent if that fails."""
        try:
            async with asyncio.timeout(within_s):
                if passage.send_by is None:
                    return await self._connected(opened)
                return await self._unused(opened)
        except TimeoutError as problem:
            raise Unreachable(Reason.TIMEOUT) from problem

    async def _unused(self, opened: _Open) -> Line:
        """Return a connection that nothing was ever sent on, for a call that moves money."""
        if opened.credentials is not None:
            await opened.credentials.refresh()
            opened.credentials.require_valid()
        # What is taken here was looked at just now: nothing is awaited before the write.
        line = opened.spares.take() or await self._connected(opened, single=True)
        opened.spares.refill()
        return line

    async def _spare(self) -> Line:
        """Open a connection ahead, for a payout to come."""
        if self._open is None:
            raise Unreachable(Reason.CLOSED)
        return await self._connected(self._open, single=True, ahead=True)

    async def _connected(self, opened: _Open, *, single: bool = False, ahead: bool = False) -> Line:
        """Open one connection more."""
        context = await opened.credentials.current() if opened.credentials else None
        if not ahead and not opened.pool.has_room():
            raise Unreachable(Reason.BULKHEAD_FULL)
        line = opened.pool.make(self._limits.answer_bytes, single=single, ahead=ahead)
        try:
            await opened.dialler.connect(line, context)
        except BaseException:
            opened.pool.unmake(line)
            raise
        # Under TLS the bank may have sent tickets, which the loop has not read yet.
        sound = line.usable if context else line.is_quiet()
        if self._open is not opened or not sound:
            opened.pool.end(line)
            closed = self._open is not opened
            raise Unreachable(Reason.CLOSED if closed else Reason.CONNECT_FAILED)
        return line


def _kept(opened: _Open, passage: Passage) -> Line | None:
    """Return an idle connection for a read; a call that moves money never gets one."""
    return opened.pool.take() if passage.send_by is None else None


def _pass(watch: split_write.Passing | None, name: str) -> None:
    """Pass a point."""
    if watch is not None:
        watch(name)
