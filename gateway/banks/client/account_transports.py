"""
One transport per account, for banks that identify accounts by certificate.

Connections, TLS contexts and resumed sessions belong to one account and one certificate, so that no
call uses another account's connection.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections import OrderedDict
from typing import Final

from gateway.banks.client.messages import Identity, ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.tls import TlsFiles, TlsFilesRefused, TlsSetup
from gateway.banks.client.transport import LONGEST_S, HttpTransport, TransportLimits
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.account import Environment
from gateway.net.common.certificates import NoMemoryFiles, require_memory_files
from gateway.net.common.runtime import Runtime

MOST: Final = 256
"""Open at once. With ``tls.ca`` a context has some 25 KiB, so that they stay below 7 MiB."""

_SESSIONS: Final = 2
"""An account has few calls at once; each session holds the bank's certificates, some 6 KiB."""


@dataclasses.dataclass(slots=True, eq=False)
class _OneAccount:
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
        tls: What all accounts have in common; ``certificate_required`` refuses a call of
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
        self._nobody_s = HttpTransport(base_url, limits, environment, self._runtime, without)
        self._accounts: OrderedDict[str, _OneAccount] = OrderedDict()
        self._retired: set[_OneAccount] = set()
        self._idle: OrderedDict[str, _OneAccount] = OrderedDict()
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
        await self._nobody_s.start()
        self._is_open = True

    async def close(self) -> None:
        """Close every connection of every account."""
        self._is_open = False
        everybody = [*self._accounts.values(), *self._retired]
        self._accounts.clear()
        self._retired.clear()
        self._idle.clear()
        closing = [each.transport.close() for each in everybody]
        await asyncio.gather(self._nobody_s.close(), *closing, *self._closing)

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """Send a request on a connection of its account; see ``Transport.call``."""
        if request.identity is None:
            return await self._nobody_s.call(request, progress, within_s)
        loop = asyncio.get_running_loop()
        by = loop.time() + within_s
        try:
            one = self._of(request.identity)
        except Unreachable:
            progress.refused_here = True  # by us: the bank is not to blame
            raise
        one.calls += 1
        try:
            await self._opened(one, progress, within_s)
            return await one.transport.call(request, progress, by - loop.time())
        finally:
            one.calls -= 1
            self._rested(one)
            progress.end()

    def _of(self, identity: Identity) -> _OneAccount:
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
        if len(self) >= MOST:
            self._retire(self._longest_unused())
        one = _OneAccount(identity, self._made(identity))
        self._accounts[identity.account_id] = one
        return one

    def _made(self, identity: Identity) -> HttpTransport:
        """Build a transport; the account's expiry must not count as the provider's."""
        runtime = dataclasses.replace(self._runtime, on_certificate=None)
        files = TlsFiles(ca_file=self._tls.files.ca_file)
        setup = dataclasses.replace(self._tls, files=files, pair=identity.pair, sessions=_SESSIONS)
        return HttpTransport(self._base_url, self._limits, self._environment, runtime, setup)

    async def _opened(self, one: _OneAccount, progress: SendProgress, within_s: float) -> None:
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

    def _longest_unused(self) -> _OneAccount:
        """Return the least recently used transport; raises ``Unreachable`` when all are in use."""
        for one in self._accounts.values():
            if not one.calls:
                return one
        raise Unreachable(Reason.BULKHEAD_FULL)

    def _retire(self, one: _OneAccount) -> None:
        """Retire a transport: no further calls, and closed as soon as its last call has ended."""
        del self._accounts[one.identity.account_id]
        self._idle.pop(one.identity.account_id, None)
        self._retired.add(one)
        self._close_if_done(one)

    def _rested(self, one: _OneAccount) -> None:
        """Limit idle connections to as many accounts as there may be calls."""
        if one in self._retired or not self._is_open:
            self._close_if_done(one)
            return
        self._idle[one.identity.account_id] = one
        self._idle.move_to_end(one.identity.account_id)
        if len(self._idle) > self._limits.connections:
            _, longest = self._idle.popitem(last=False)
            longest.transport.drop_idle()

    def _close_if_done(self, one: _OneAccount) -> None:
        if one.calls or one not in self._retired:
            return
        self._retired.discard(one)
        task = asyncio.get_running_loop().create_task(one.transport.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
