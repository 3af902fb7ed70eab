"""HAProxy as Compose starts it: gateways are what the name server says, also after a change."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import IPv4Address
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.servers.front import haproxy_with
from tests.world.banks.authority import Authority
from tests.world.containers import SERVICES
from tests.world.waiting import until

pytestmark = pytest.mark.process

LOOPBACK = IPv4Address("127.0.0.0")
GATEWAYS = [str(LOOPBACK + 4 * os.getpid() + number) for number in range(3)]
"""Three of the loopback that no other process asks for: their ports are those of a container."""
PORTS = (8080, 9090)
A_RECORD, TTL_S = 1, 0


class NameServer(asyncio.DatagramProtocol):
    """Answers every question about an A record with the same addresses, others with none."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(b"\0", 12) + 5  # of the name, its type and its class
        kind = int.from_bytes(data[end - 4 : end - 2])
        known = self.addresses if kind == A_RECORD else []
        head = data[:2] + b"\x81\x80" + b"\0\1" + len(known).to_bytes(2) + bytes(4)
        record = b"\xc0\x0c\0\1\0\1" + TTL_S.to_bytes(4) + b"\0\4"
        answers = b"".join(record + socket.inet_aton(each) for each in known)
        self.transport.sendto(head + data[12:end] + answers, addr)


@asynccontextmanager
async def gateway(address: str) -> AsyncIterator[None]:
    """Answer everything with one's own address, as a container on its own would."""

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=address)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        for port in PORTS:
            await web.TCPSite(runner, address, port).start()
        yield
    finally:
        await runner.cleanup()


async def test_an_added_gateway_is_found_by_name(tmp_path: Path):
    """As with ``--scale gateway=3``; a path with an explicit address is tried, too."""
    certificate = Authority(tmp_path).sign("proxy")
    loop = asyncio.get_running_loop()
    transport, names = await loop.create_datagram_endpoint(
        lambda: NameServer(*GATEWAYS[:2]), local_addr=("127.0.0.1", 0)
    )
    port = transport.get_extra_info("sockname")[1]
    environ = {
        "PIXGATE_GATEWAY": SERVICES["haproxy"]["environment"]["PIXGATE_GATEWAY"],
        "PIXGATE_DNS": f"127.0.0.1:{port}",
    }
    async with AsyncExitStack() as stack:
        stack.callback(transport.close)
        for address in GATEWAYS:
            await stack.enter_async_context(gateway(address))
        front = stack.enter_context(haproxy_with(environ, certificate))
        session = await stack.enter_async_context(aiohttp.ClientSession())

        async def serving(method: str) -> set[str]:
            """Return which gateways answer, of as many requests as there may be gateways."""
            found = set()
            for _ in GATEWAYS:
                async with session.request(method, front.url, ssl=False) as said:
                    found.add(await said.text() if said.status == 200 else "")
            return found - {""}

        async def all_of(expected: set[str]) -> bool:
            return await serving("GET") == await serving("POST") == expected

        await until(lambda: all_of({*GATEWAYS[:2]}))
        names.addresses = GATEWAYS
        await until(lambda: all_of({*GATEWAYS}))
