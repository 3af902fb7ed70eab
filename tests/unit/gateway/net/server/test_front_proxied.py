"""Connections of our own proxies: whose address a request has, and who is hung up on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network

import pytest
from aiohttp import web

from gateway.net.server.listener import Listener
from gateway.net.server.request import address_of, certificate_of
from tests.unit.gateway.net.server.proxy_protocol import (
    FOUR,
    LOCAL,
    PROXY,
    SIX,
    TCP4,
    TCP6,
    UDP4,
    UNSPEC,
    binary,
)
from tests.world.raw_http import until_closed
from tests.world.waiting import until
from tests.world.wired import PATIENT, Seen, listening

OURS = (ip_network("127.0.0.0/8"),)
OTHERS = (ip_network("10.0.0.0/8"),)
ONE = b"PROXY TCP4 203.0.113.7 192.0.2.1 5 80\r\n"
TWO = binary(PROXY, TCP6, SIX)
NOBODY = binary(LOCAL, UNSPEC)
OTHER = b"PROXY TCP4 203.0.113.8 192.0.2.1 5 80\r\n"


def get(path: str = "/", *more: bytes, last: bool = True) -> bytes:
    lines = (b"GET %b HTTP/1.1" % path.encode(), b"Host: pixgate", *more)
    return b"\r\n".join(lines) + (b"\r\nConnection: close" if last else b"") + b"\r\n\r\n"


@asynccontextmanager
async def telling(seen: Seen, mode: str, trusted=OURS, **limits) -> AsyncIterator[Listener]:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=address_of(request).encode())

    wanted = replace(PATIENT, client_address=mode, trusted_peers=trusted, **limits)
    async with listening(answer, seen, wanted) as listener:
        yield listener


async def told(listener: Listener, *portions: bytes, gap_s: float = 0) -> list[str]:
    """Return the address of every request that was answered."""
    said = await until_closed(listener.port, *portions, gap_s=gap_s)
    return [answer.body.decode() for answer in said.answers]


async def test_forwarded_headers_of_an_untrusted_peer_are_ignored(seen: Seen):
    async with telling(seen, "peer") as listener:
        assert await told(listener, get("/", b"X-Forwarded-For: 203.0.113.7")) == ["127.0.0.1"]


async def test_the_forwarded_header_of_a_trusted_proxy_names_the_client(seen: Seen):
    async with telling(seen, "forwarded") as listener:
        named = get("/", b"X-Forwarded-For: 198.51.100.1", b"x-forwarded-for: 203.0.113.7")

        assert await told(listener, named) == ["203.0.113.7"]


async def test_the_forwarded_header_of_an_untrusted_proxy_is_ignored(seen: Seen):
    async with telling(seen, "forwarded", OTHERS) as listener:
        assert await told(listener, get("/", b"X-Forwarded-For: 203.0.113.7")) == ["127.0.0.1"]


async def test_each_request_of_a_proxied_connection_has_its_own_client(seen: Seen):
    """Proxies share connections among callers, also pipelined."""
    async with telling(seen, "forwarded") as listener:
        requests = (
            get("/", b"X-Forwarded-For: 203.0.113.7", last=False),
            get("/", b"X-Forwarded-For: nonsense", last=False),
            get("/", last=False),
            get("/", b"X-Forwarded-For: 203.0.113.8"),
        )

        apart = await told(listener, *requests)
        at_once = await told(listener, b"".join(requests))

    assert apart == at_once == ["203.0.113.7", "127.0.0.1", "127.0.0.1", "203.0.113.8"]


@pytest.mark.parametrize(
    ("header", "address"), [(ONE, "203.0.113.7"), (TWO, "2001:db8::7"), (NOBODY, "")]
)
async def test_a_proxy_protocol_client_holds_for_the_whole_connection(seen, header, address):
    """The proxy itself is the client if it announces none; a request header changes nothing."""
    async with telling(seen, "proxy_protocol") as listener:
        first = get("/", b"X-Forwarded-For: 198.51.100.1", last=False)

        assert await told(listener, header + first + get()) == [address or "127.0.0.1"] * 2


@pytest.mark.parametrize(
    "header", [ONE, binary(PROXY, TCP4, FOUR + b"\x04\x00\x03abc")], ids=["v1", "v2"]
)
async def test_a_proxy_protocol_header_may_arrive_byte_by_byte(seen: Seen, header: bytes):
    async with telling(seen, "proxy_protocol") as listener:
        bytes_apart = [bytes((each,)) for each in header + get()]

        assert await told(listener, *bytes_apart) == ["203.0.113.7"]


@pytest.mark.parametrize("received", [b"", ONE.replace(b"80", b"080"), binary(PROXY, UDP4)])
async def test_a_connection_without_a_proxy_protocol_header_is_closed(seen: Seen, received: bytes):
    """A refusal could not be counted for any address."""
    async with telling(seen, "proxy_protocol") as listener:
        said = await until_closed(listener.port, received + get())

    assert (said.raw, said.closed, seen.refusals) == (b"", True, [])


@pytest.mark.parametrize("sent", [ONE + get(), get(), b""], ids=["announced", "http", "nothing"])
async def test_a_proxy_protocol_peer_that_is_not_trusted_is_disconnected(seen: Seen, sent: bytes):
    async with telling(seen, "proxy_protocol", OTHERS) as listener:
        said = await until_closed(listener.port, sent)

        assert (said.raw, said.closed) == (b"", True)
        assert (listener.connections.turned_away, listener.connections.open_connections) == (
            {"peer": 1},
            0,
        )


@pytest.mark.parametrize("begun", [b"", b"PROXY TCP4 203.", binary(PROXY, TCP4)[:14]])
async def test_an_unfinished_proxy_protocol_header_times_out(seen: Seen, begun: bytes):
    """After the time for a request's headers."""
    async with telling(seen, "proxy_protocol", header_deadline_s=0.05) as listener:
        said = await until_closed(listener.port, begun)

    assert (said.raw, said.closed) == (b"", True)


async def test_clients_behind_a_proxy_have_their_own_limits(seen: Seen):
    """Each announced client has its own connections."""
    async with telling(seen, "proxy_protocol", connections_per_address=1) as listener:
        async with held(listener, ONE), held(listener, OTHER), held(listener, b"PROXY UNKNOWN\r\n"):
            second = await until_closed(listener.port, ONE + get())
            own = await told(listener, binary(LOCAL, UNSPEC) + get())

            assert (second.raw, second.closed) == (b"", True)
            assert own == ["127.0.0.1"]
        await until(lambda: not listener.connections.open_connections)

        assert await told(listener, ONE + get()) == ["203.0.113.7"]
        await until(lambda: not listener.connections._by_place)


@asynccontextmanager
async def held(listener: Listener, announced: bytes) -> AsyncIterator[None]:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(announced + get(last=False))
    await reader.readuntil(b"\r\n\r\n")
    try:
        yield
    finally:
        writer.close()
        await writer.wait_closed()


SHOWN = b"Client-Cert: :AAAA:"


@asynccontextmanager
async def showing(seen: Seen, mode: str, trusted=OURS, name: str = "Client-Cert"):
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=certificate_of(request).hex().encode())

    wanted = replace(PATIENT, client_address=mode, trusted_peers=trusted, certificate_header=name)
    async with listening(answer, seen, wanted) as listener:
        yield listener


async def test_a_forwarded_certificate_applies_to_its_request_alone(seen: Seen):
    """Our proxy sends it, wherever the request comes from."""
    requests = (
        get("/", SHOWN, b"X-Forwarded-For: 203.0.113.7", last=False),
        get("/", b"X-Forwarded-For: 203.0.113.8", last=False),
        get("/", SHOWN, SHOWN, last=False),
        get("/", b"client-cert: :AAAB:"),
    )
    async with showing(seen, "forwarded") as listener:
        assert await told(listener, *requests) == ["000000", "", "", "000001"]


async def test_a_certificate_forwarded_by_an_untrusted_peer_is_ignored(seen: Seen):
    async with showing(seen, "forwarded", OTHERS) as listener:
        assert await told(listener, get("/", SHOWN)) == [""]


@pytest.mark.parametrize("mode", ["peer", "proxy_protocol"])
async def test_a_certificate_header_is_ignored_in_other_proxy_modes(seen: Seen, mode: str):
    """The caller itself may have sent the header."""
    first = ONE if mode == "proxy_protocol" else b""
    async with showing(seen, mode) as listener:
        assert await told(listener, first + get("/", SHOWN)) == [""]


async def test_a_certificate_header_is_ignored_without_a_configured_name(seen: Seen):
    async with showing(seen, "forwarded", name="") as listener:
        assert await told(listener, get("/", SHOWN)) == [""]
