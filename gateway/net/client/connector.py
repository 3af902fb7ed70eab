"""From a bank's name to an open connection, within the time for connecting."""

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
from gateway.domain.bank.providers import Unreachable
from gateway.net.client import addresses
from gateway.net.client.connection import Line
from gateway.net.client.reasons import Reason
from gateway.net.client.resumption import ResumingContext

_KEPT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    Where a bank is.

    Attributes:
        header: As the Host header says it.
        prefix: What all its paths begin with; no slash at its end.
    """

    host: str
    port: int
    secure: bool
    header: str
    prefix: str


def place(base_url: str) -> Place:
    """Read a base address; it was checked where the provider was configured."""
    url = URL(base_url)
    host = url.raw_host or ""
    return Place(
        host=host,
        port=url.port or 0,
        secure=url.scheme == "https",
        header=url.host_port_subcomponent or "",
        prefix=url.raw_path.rstrip("/"),
    )


class Dialler:
    """
    Opens connections to one place.

    A name's addresses are kept for ten seconds, and forgotten when none of
    them answers. Whether they may be called is checked whenever they are asked
    for, also for an address that needs no asking.
    """

    def __init__(self, to: Place, environment: Environment, connect_s: float) -> None:
        self._to = to
        self._connect_s = connect_s
        self._loop = asyncio.get_running_loop()
        resolver = addresses.resolver_for(environment)
        self._must_check = resolver is not None
        self._resolver: AbstractResolver = resolver or ThreadedResolver()
        self._known: Sequence[str] = ()
        self._known_until = 0.0

    async def connect(self, line: Line, context: ResumingContext | None) -> None:
        """
        Connect a line, TLS included.

        Raises:
            Unreachable: ``dns_failed``, ``connect_failed``, ``connect_timeout``
                or ``tls_failed``; nothing of a request was sent.
        """
        try:
            async with asyncio.timeout(self._connect_s):
                await self._first(line, await self._addresses(), context)
        except TimeoutError as problem:
            self._known = ()
            raise Unreachable(Reason.CONNECT_TIMEOUT) from problem

    async def close(self) -> None:
        """Let go of the resolver."""
        await self._resolver.close()

    async def _first(
        self, line: Line, hosts: Sequence[str], context: ResumingContext | None
    ) -> None:
        """Try one address after the other; each but the last has its share of the time."""
        by = self._loop.time() + self._connect_s
        for position, host in enumerate(hosts):
            left = len(hosts) - position
            share = (by - self._loop.time()) / left if left > 1 else None
            try:
                async with asyncio.timeout(share):
                    await self._one(line, host, context)
                return
            except (OSError, ValueError) as problem:
                if left > 1:
                    continue
                self._known = ()
                if isinstance(problem, TimeoutError):
                    raise
                raise Unreachable(_reason(problem)) from problem

    async def _one(self, line: Line, host: str, context: ResumingContext | None) -> None:
        """Connect to one address."""
        try:
            await self._loop.create_connection(
                lambda: line,
                host,
                self._to.port,
                ssl=context,
                server_hostname=self._to.host if context else None,
            )
        except (ssl.SSLError, ConnectionResetError):
            if context is not None:
                context.distrust()
            raise

    async def _addresses(self) -> Sequence[str]:
        """Return the addresses of the place, each checked where that is asked for."""
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
    """Say whether a host is an address rather than a name."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _reason(problem: Exception) -> Reason:
    """Say why there is no connection."""
    return Reason.TLS_FAILED if isinstance(problem, ssl.SSLError) else Reason.CONNECT_FAILED
