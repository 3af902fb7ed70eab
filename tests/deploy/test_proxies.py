"""The proxies of deploy, in front of servers that say what they were sent, or nothing."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from gateway.domain.kernel.errors import CATALOGUE
from tests.servers.front import FRONTS, Front, Node, by_name
from tests.servers.process import free_port
from tests.world.banks.authority import Authority
from tests.world.waiting import until

SECRET = "CANARY"
LIES = {"X-Forwarded-For": "198.51.100.77", "Client-Cert": ":MIIB:", "Authorization": SECRET}
METHODS = ("GET", "POST")
NONE = Node(port=1, ops=1)
"""Where nobody listens."""


async def echo(request: web.Request) -> web.StreamResponse:
    """Say what arrived; hang up where the path says so."""
    if request.path == "/readyz":
        return web.Response()
    assert request.transport is not None
    if request.path.endswith("/dies"):
        request.transport.abort()
    headers = {"X-Trace-ID": request.headers.get("X-Trace-ID", "")}
    host, _ = request.transport.get_extra_info("sockname")
    said = {"host": host, "headers": dict(request.headers), "url": request.path_qs}
    return web.json_response(said, headers=headers)


@asynccontextmanager
async def echoing(port: int, *hosts: str) -> AsyncIterator[None]:
    """Serve on a port of each address."""
    runners = []
    for host in hosts:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", echo)
        runners.append(web.AppRunner(app))
        await runners[-1].setup()
        await web.TCPSite(runners[-1], host, port).start()
    try:
        yield
    finally:
        for runner in runners:
            await runner.cleanup()


async def send(front: Front, method: str, path: str, **headers: str) -> tuple[int, Any, str]:
    """Call; return status, document and the trace id of the header."""
    connector = aiohttp.TCPConnector(ssl=False)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.request(method, front.url + path, headers=headers) as said,
    ):
        return said.status, json.loads(await said.read()), said.headers["X-Trace-ID"]


@pytest.mark.parametrize("name", FRONTS)
async def test_what_a_caller_says_of_itself_is_dropped_and_no_secret_is_logged(
    tmp_path: Path, name: str
):
    node = Node(port=(port := free_port()), ops=port)
    certificate = Authority(tmp_path).sign("proxy")
    path = f"/callbacks/bank/{SECRET}?key={SECRET}"
    async with echoing(port, "127.0.0.1"):
        with FRONTS[name](node, node, certificate) as front:
            await until(lambda: answers(front))
            _, told, _ = await send(front, "POST", path, **LIES, **{"X-Trace-ID": "ours-1"})
            _, again, made = await send(front, "GET", "/a", **{"X-Trace-ID": "not ours"})
            await until(lambda: made in front.log.read_text())
            logged = front.log.read_text()

    headers = {key.lower(): value for key, value in told["headers"].items()}
    assert (headers["x-forwarded-for"], headers.get("client-cert")) == ("127.0.0.1", None)
    assert (told["url"], headers["x-trace-id"]) == (path, "ours-1")
    assert again["headers"]["X-Trace-ID" if name == "nginx" else "x-trace-id"] == made != "not ours"
    assert SECRET not in logged
    assert '"trace_id":"ours-1"' in logged


@pytest.mark.parametrize("name", FRONTS)
async def test_answers_of_the_proxy_itself_are_the_contract_s(tmp_path: Path, name: str):
    """Nobody there; and a server that hangs up, which is asked once more for a read alone."""
    known = {(error.code, error.status, error.message) for error in CATALOGUE}
    certificate = Authority(tmp_path).sign("proxy")
    node = Node(port=(port := free_port()), ops=port)
    found = []
    with ExitStack() as fronts:
        nobody = fronts.enter_context(FRONTS[name](NONE, NONE, certificate))
        found += [await send(nobody, method, "/x", **{"X-Trace-ID": "t-1"}) for method in METHODS]
        async with echoing(port, "127.0.0.1"):
            front = fronts.enter_context(FRONTS[name](node, node, certificate))
            await until(lambda: answers(front))
            found += [await send(front, method, "/dies") for method in METHODS]
            tried = [attempts(front, method) for method in METHODS]

    wrong = [
        each
        for each in found
        if (each[1]["code"], each[0], each[1]["message"]) not in known
        or each[1]["trace_id"] != each[2]
    ]
    assert wrong == []
    assert [status for status, _, _ in found[2:]] == [500, 500]
    assert tried[0] > tried[1] == 1


async def test_haproxy_finds_every_address_of_a_name(tmp_path: Path):
    """As in Compose, however many containers there are."""
    hosts = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    certificate = Authority(tmp_path).sign("proxy")
    port = free_port()
    async with name_server(hosts) as dns, echoing(port, *hosts):
        with by_name("gateway", dns, Node(port=port, ops=port), certificate) as front:

            async def every() -> bool:
                seen = {await host_of(front) for _ in range(9)}
                return seen == set(hosts)

            await until(every)


class Names(asyncio.DatagramProtocol):
    """Answers every question with the same addresses (RFC 1035)."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._hosts = hosts

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(b"\0", 12) + 5  # behind the name: its end, type and class
        is_address = data[end - 4 : end - 2] == b"\0\1"
        hosts = self._hosts if is_address else ()
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, len(hosts), 0, 0)
        records = [
            b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 5, 4) + ipaddress.ip_address(host).packed
            for host in hosts
        ]
        self._transport.sendto(b"".join((head, data[12:end], *records)), addr)


@asynccontextmanager
async def name_server(hosts: Sequence[str]) -> AsyncIterator[str]:
    """Serve names; give the address to ask."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: Names(hosts), local_addr=("127.0.0.1", 0)
    )
    try:
        host, port = transport.get_extra_info("sockname")
        yield f"{host}:{port}"
    finally:
        transport.close()


async def answers(front: Front) -> bool:
    """Say whether a server behind it is asked already."""
    return (await send(front, "POST", "/"))[0] == 200


async def host_of(front: Front) -> str:
    status, document, _ = await send(front, "POST", "/")
    return document["host"] if status == 200 else ""


def attempts(front: Front, method: str) -> int:
    """Return how often a request for ``/dies`` was sent to a server."""
    lines = [json.loads(line) for line in front.log.read_text().splitlines() if line[0] == "{"]
    (line,) = (each for each in lines if (each["method"], each["path"]) == (method, "/dies"))
    return 1 + int(line["retries"]) if "retries" in line else line["tried"].count(",") + 1
