"""
Sends a delivery to its endpoint, or asks an address that somebody typed; once.

The address belongs to somebody else, so it may lead anywhere. Each connection is made to a public
address alone, whatever its name resolved to before; redirects are not followed, no proxy is read
from the environment, no cookie is kept. Of the answer to a body that is sent nothing but its status
and ``Retry-After`` is used, and at most 16 kB of it are read; a document that is asked for has an
end.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network, ip_address
from socket import SO_RCVBUF, SOL_SOCKET, AddressFamily, socket
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from gateway.banks.client.addresses import effective_address, is_public
from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Monotonic, Now
from gateway.deliveries.model import Delivery, Outcome, TryFailure
from gateway.endpoints.addresses import read_address
from gateway.net.common.names import HostNames, LookUp, system_look_up
from gateway.security.webhooks import secret_bytes, signed_headers

CONNECT_S: Final = 3.0
WHOLE_S: Final = 10.0
_READ: Final = 16 * 1024
_AT_ONCE: Final = 4096
"""Bytes of an answer that the kernel keeps for us: all that it has is parsed in one turn of the
loop, and a hundred thousand interim answers would stop the process for seconds."""
_MOST_ADDRESSES: Final = 4
"""Of a name, which may have thousands; aiohttp tries all, then all but the first, and so on."""
_KEPT_S: Final = 4.0
"""Servers close idle connections after 5 s and more; one that is just closed is a failure."""
_NOT_PUBLIC: Final = errno.EACCES
# A name of ours that leads inward looks like one that there is not, in word and in time: whoever
# types addresses would else learn which names we have.
_UNCALLED: Final = frozenset({TryFailure.NAME, TryFailure.ADDRESS})
_HEADERS: Final = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "pixgate",
}


_ASKS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "pixgate",
}


class FetchFailed(Exception):
    """An address did not answer, or not usably."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderConfig:
    """
    How deliveries leave.

    Attributes:
        allow_local: Admits http, any port and this machine; in the sandbox alone.
        own_networks: Of ours, with public addresses; nothing is sent there.
        tls: What certificates are trusted; by default the system's authorities.
        look_up: Resolves a name, in a thread.
        connect_s: Seconds for look-up, connection and TLS.
        whole_s: Seconds from the look-up to the end of the answer.
    """

    allow_local: bool = False
    own_networks: Sequence[IPv4Network | IPv6Network] = ()
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context
    look_up: LookUp = system_look_up
    connect_s: float = CONNECT_S
    whole_s: float = WHOLE_S


class Sender:
    """Sends deliveries and other bodies; opened when the first is sent."""

    def __init__(self, config: SenderConfig, now: Now, clock: Monotonic) -> None:
        self._config, self._now, self._clock = config, now, clock
        self._session: aiohttp.ClientSession | None = None

    async def send(self, delivery: Delivery, url: str, secrets: Sequence[str]) -> Outcome:
        """Send a delivery, signed for this try by each secret; return what came of it."""
        at, body = self._now(), delivery.body or b""
        signed = signed_headers(map(secret_bytes, secrets), delivery.event_id, at, body)
        return await self._post(url, body, signed, at)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Outcome:
        """Send a body, JSON where the headers do not say otherwise; return what came of it."""
        return await self._post(url, body, headers, self._now())

    async def ask(
        self,
        url: str,
        most: int,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """
        Return the status and the body of an answer; with ``form`` it is posted.

        Raises:
            FetchFailed: there was none in time, or its body is longer than ``most`` bytes.
        """
        method = "GET" if form is None else "POST"
        try:
            async with self._calling(method, url, form, {**_ASKS, **(headers or {})}) as answer:
                body = bytearray()
                while part := await answer.content.read(_READ):
                    body += part
                    if len(body) > most:
                        answer.close()
                        raise FetchFailed
        except (RuleViolation, TimeoutError, aiohttp.ClientError, OSError) as problem:
            raise FetchFailed from problem
        return answer.status, bytes(body)

    async def _post(
        self, url: str, body: bytes, headers: Mapping[str, str], at: datetime
    ) -> Outcome:
        began = self._clock()
        status, failure, wish = await self._try(url, body, {**_HEADERS, **headers}, at)
        ms = round((self._clock() - began) * 1000)
        return Outcome(
            at=at,
            status=status,
            failure=failure,
            ms=0 if failure in _UNCALLED else ms,
            retry_after=None if failure is TryFailure.NONE else wish,
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _try(
        self, url: str, body: bytes, headers: Mapping[str, str], at: datetime
    ) -> tuple[int | None, TryFailure, timedelta | None]:
        status: int | None = None
        try:
            async with self._calling("POST", url, body, headers) as answer:
                status = answer.status
                wish = retry_after(answer.headers.get("Retry-After", ""), at)
                await _read_away(answer)
        except RuleViolation:
            return None, TryFailure.ADDRESS, None
        except (TimeoutError, aiohttp.ClientError, OSError) as problem:
            # A status that came decides, however the rest of the answer ends.
            if status is None:
                return None, _failure(problem), None
            return status, _meaning(status), None
        return status, _meaning(status), wish

    @asynccontextmanager
    async def _calling(
        self,
        method: str,
        url: str,
        body: bytes | Mapping[str, str] | None,
        headers: Mapping[str, str],
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        # The rules may have become stricter since it was stored.
        address = read_address(url, allow_local=self._config.allow_local)
        async with (
            asyncio.timeout(self._config.whole_s),
            self._opened().request(
                method, address, data=body, headers=headers, allow_redirects=False
            ) as answer,
        ):
            yield answer

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                ssl=_context(self._config.tls()),
                limit=0,  # the worker has places
                resolver=_Names(self._config.look_up),
                use_dns_cache=False,
                keepalive_timeout=_KEPT_S,
                socket_factory=self._socket,
            )
            self._session = _session(connector, self._config)
        return self._session

    def _socket(self, to: aiohttp.AddrInfoType) -> socket:
        """Make the socket of a connection, which goes to a public address."""
        family, kind, protocol, _, address = to
        found = ip_address(str(address[0]).partition("%")[0])
        if not is_public(found) and not (self._config.allow_local and found.is_loopback):
            raise _inward()
        if any(effective_address(found) in each for each in self._config.own_networks):
            raise _inward()
        made = socket(family, kind, protocol)
        made.setsockopt(SOL_SOCKET, SO_RCVBUF, _AT_ONCE)
        return made


def _inward() -> OSError:
    return OSError(_NOT_PUBLIC, "the name resolves to an address that is not public, or is ours")


class _Names(AbstractResolver):
    """Resolves names in threads of their own: one that hangs holds no other up."""

    def __init__(self, look_up: LookUp) -> None:
        self._names = HostNames(look_up=look_up)

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AddressFamily.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            found = await self._names.of(host).addresses()
        except (OSError, ValueError) as problem:
            raise OSError from problem
        return [_resolved(host, each, port) for each in found[:_MOST_ADDRESSES]]

    async def close(self) -> None:
        """Do nothing: threads end by themselves."""


def _resolved(host: str, address: str, port: int) -> ResolveResult:
    family = AddressFamily.AF_INET6 if ":" in address else AddressFamily.AF_INET
    return {
        "hostname": host,
        "host": address,
        "port": port,
        "family": family,
        "proto": 0,
        "flags": 0,
    }


def _context(context: ssl.SSLContext) -> ssl.SSLContext:
    context.set_alpn_protocols(["http/1.1"])
    context.hostname_checks_common_name = False  # no authority limits it (RFC 9525, 2)
    return context


def _session(connector: aiohttp.TCPConnector, config: SenderConfig) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=config.whole_s, connect=config.connect_s),
        trust_env=False,
        auto_decompress=False,
        read_bufsize=_READ,
    )


async def _read_away(answer: aiohttp.ClientResponse) -> None:
    """Read a short answer to its end, so that the connection serves again; else it is closed."""
    left = _READ
    while left > 0:
        part = await answer.content.read(left)
        if not part:
            return
        left -= len(part)
    answer.close()


def _meaning(status: int) -> TryFailure:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return TryFailure.NONE
    if status == HTTPStatus.GONE:
        return TryFailure.GONE
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    return TryFailure.REDIRECT if is_redirect else TryFailure.STATUS


def _failure(problem: Exception) -> TryFailure:
    if isinstance(problem, TimeoutError):
        return TryFailure.TIMEOUT
    if isinstance(problem, aiohttp.ClientConnectorDNSError) or _is_inward(problem):
        return TryFailure.NAME
    if isinstance(problem, (aiohttp.ClientSSLError, ssl.SSLError)):
        return TryFailure.TLS
    if isinstance(problem, aiohttp.InvalidURL):
        return TryFailure.ADDRESS
    if isinstance(problem, (aiohttp.ClientResponseError, aiohttp.ClientPayloadError)):
        return TryFailure.ANSWER
    return TryFailure.CONNECTION


def _is_inward(problem: Exception) -> bool:
    """Return whether no socket was made, since no address of the name is public."""
    return isinstance(problem, aiohttp.ClientConnectorError) and problem.errno == _NOT_PUBLIC


def retry_after(text: str, now: datetime) -> timedelta | None:
    """Read ``Retry-After``: seconds or a date; None for anything else, and for the past."""
    try:
        if text.isascii() and text.isdecimal():
            wish = timedelta(seconds=int(text))
        else:
            wish = parsedate_to_datetime(text) - now
    except (ValueError, TypeError, OverflowError):
        return None
    return wish if wish > timedelta() else None
