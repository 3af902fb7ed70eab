"""From a bank's host name to an open connection, within the time for connecting."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from aiohttp.abc import AbstractResolver
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Unreachable
from gateway.net.client import addresses
from gateway.net.client.connection import Connection
from gateway.net.client.tls import ResumingContext
from gateway.net.common.certificates import refuses_ours

# Long enough to spare a look-up for most connections, short enough to follow a moved bank.
_KEPT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """
    A bank's address, in parts.

    Attributes:
        header: The value of the Host header.
        prefix: What all paths begin with, without a slash at the end.
    """

    host: str
    port: int
    secure: bool
    header: str
    prefix: str


def read_endpoint(base_url: str) -> Endpoint:
    """Read a base URL; the provider's settings have checked it."""
    url = URL(base_url)
    host = url.raw_host or ""
    return Endpoint(
        host=host,
        port=url.port or 0,
        secure=url.scheme == "https",
        header=url.host_port_subcomponent or "",
        prefix=url.raw_path.rstrip("/"),
    )


class Connector:
    """
    Opens connections to one endpoint.

    The addresses of a host name are kept for ten seconds, and forgotten if none of them
    answers. Every address is checked before it is used, also one that needs no look-up.
    """

    def __init__(self, to: Endpoint, environment: Environment, connect_s: float) -> None:
        self._to = to
        self._connect_s = connect_s
        self._loop = asyncio.get_running_loop()
        resolver = addresses.resolver_for(environment)
        self._must_check = resolver is not None
        self._resolver: AbstractResolver = resolver or ThreadedResolver()
        self._known: Sequence[str] = ()
        self._known_until = 0.0

    async def connect(self, connection: Connection, context: ResumingContext | None) -> None:
        """
        Connect, TLS included.

        Raises:
            Unreachable: ``dns_failed``, ``connect_failed``, ``connect_timeout``
                ``certificate_refused`` or ``tls_failed``. No byte of a request was sent.
        """
        try:
            async with asyncio.timeout(self._connect_s):
                await self._first(connection, await self._addresses(), context)
        except TimeoutError as problem:
            self._known = ()
            raise Unreachable(Reason.CONNECT_TIMEOUT) from problem

    async def close(self) -> None:
        """Close the resolver."""
        await self._resolver.close()

    async def _first(
        self, connection: Connection, hosts: Sequence[str], context: ResumingContext | None
    ) -> None:
        """Try one address after the other; each except the last gets its share of the time."""
        by = self._loop.time() + self._connect_s
        for position, host in enumerate(hosts):
            left = len(hosts) - position
            # The last one has all that is left: the whole time bounds it.
            share = (by - self._loop.time()) / left if left > 1 else None
            try:
                async with asyncio.timeout(share):
                    await self._one(connection, host, context)
                return
            except (OSError, ValueError) as problem:
                if left > 1:
                    continue
                self._known = ()
                if isinstance(problem, TimeoutError):
                    raise
                raise Unreachable(_reason(problem)) from problem

    async def _one(
        self, connection: Connection, host: str, context: ResumingContext | None
    ) -> None:
        """Connect to one address."""
        try:
            await self._loop.create_connection(
                lambda: connection,
                host,
                self._to.port,
                ssl=context,
                server_hostname=self._to.host if context else None,
            )
        except (ssl.SSLError, ConnectionResetError):
            if context is not None:
                context.forget_sessions()
            raise

    async def _addresses(self) -> Sequence[str]:
        """Return the addresses of the host, checked if the environment asks for it."""
        host = self._to.host
        if not self._must_check and _is_literal(host):
            return (host,)
        if self._known and self._loop.time() < self._known_until:
            return self._known
        try:
            found = await self._resolver.resolve(host, self._to.port, socket.AF_UNSPEC)
        except TimeoutError:
            raise
        except (OSError, ValueError) as problem:
            raise Unreachable(Reason.DNS_FAILED) from problem
        self._known = tuple(one["host"] for one in found)
        self._known_until = self._loop.time() + _KEPT_S
        if not self._known:
            raise Unreachable(Reason.DNS_FAILED)
        return self._known


def _is_literal(host: str) -> bool:
    """Is the host an address and not a name?"""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _reason(problem: Exception) -> Reason:
    """Name the reason why there is no connection."""
    if refuses_ours(problem):
        return Reason.CERTIFICATE_REFUSED
    return Reason.TLS_FAILED if isinstance(problem, ssl.SSLError) else Reason.CONNECT_FAILED
