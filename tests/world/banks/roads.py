"""Ways to a bank for the conformance suite, and what it asks there."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.tls import TlsFiles
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import ProviderError
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from provider_adapters.kit.limits import ClientLimits
from tests.servers.streams import listening
from tests.world.banks.scripted import ScriptedBank

LIMITS = ClientLimits(connect_s=60.0)
_MARK = re.compile(rb'"mark": (\d+)')
FAR = Deadline(10.0, lambda: 0.0)


def read(path: str = "/") -> ProviderRequest:
    return ProviderRequest(operation="x", method="GET", template="/", path=path)


def order(
    mark: int = 0,
    *,
    path: str = "/",
    body: bytes = b"",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> ProviderRequest:
    """Make a request that moves money, with a mark of its own unless the body is given."""
    return ProviderRequest(
        operation="create_payout",
        method="POST",
        template="/",
        path=path,
        headers=headers,
        body=body or b'{"mark": %d}' % mark,
        kind=Kind.PAYOUT,
    )


def question(mark: int) -> ProviderRequest:
    """Make a read that carries a mark; unlike an order it may go out on a kept connection."""
    return ProviderRequest(
        operation="x", method="POST", template="/", path="/", body=b'{"mark": %d}' % mark
    )


READ = read()


def marks(requests: Iterable[bytes]) -> list[int]:
    """Read the marks of what arrived; whatever else on this machine found the port has none."""
    return [int(found[1]) for found in map(_MARK.search, requests) if found]


@asynccontextmanager
async def road(url: str, tls: TlsFiles | None = None) -> AsyncIterator[HttpTransport]:
    """Open a transport, and see that nothing of it is left behind."""
    transport = HttpTransport(url, LIMITS, Environment.SANDBOX, tls=tls)
    await transport.start()
    try:
        yield transport
    finally:
        await transport.close()
    assert len(transport._pool._all) == 0


@asynccontextmanager
async def behind(place: socket.socket, bank: ScriptedBank) -> AsyncIterator[ScriptedBank]:
    """Open a bank at a port that is held already, and known to a proxy in front."""
    async with listening(bank, place=place.dup()):
        yield bank


async def tried(
    to: HttpTransport, request: ProviderRequest, progress: SendProgress | None = None
) -> ProviderAnswer | ProviderError:
    """Make one call, and return what comes of it."""
    money = request.kind is Kind.PAYOUT
    try:
        return await to.call(request, progress or SendProgress(FAR if money else None))
    except ProviderError as failure:
        return failure
