"""Plain requests that came whole: which they are, and what a connection does with them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

import pytest
from aiohttp import web

from gateway.net.server.front import Front
from gateway.net.server.lane import LARGEST_BYTES, Lane, Reply, WholeRequest, to_bytes
from gateway.net.server.listener import LANE, Address, Listener
from gateway.net.server.peer import Peer, ServerLimits
from gateway.net.server.refusals import Refusals
from gateway.net.server.request import read_body
from tests.world.raw_http import Answer, split
from tests.world.signing import Signer
from tests.world.standing import NOON
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT

LINES = b"Host: pixgate\r\nAuthorization: Basic YQ==\r\nConnection: Keep-Alive\r\n"
GET = b"GET /v1/a?b=%20c HTTP/1.1\r\n" + LINES + b"\r\n"
POST = b"POST /v1/a HTTP/1.1\r\n" + LINES + b"Content-Length: 2\r\n\r\n{}"
HELD = GET.replace(b"/v1/a?b=%20c", b"/v1/held")
SMALL = ServerLimits(header_line_bytes=200, headers=5)


def read(data: bytes, lane: Lane | None = None) -> WholeRequest | None:
    return (lane or new_lane()).read(data, Peer("", SMALL))


async def nothing(_request: WholeRequest) -> Reply:
    return Reply(200, {})


def new_lane(answer: Callable[[WholeRequest], Awaitable[Reply]] = nothing) -> Lane:
    return Lane("/v1/", answer)


def test_a_plain_request_is_parsed():
    read_get, read_post = read(GET), read(POST)

    assert read_get is not None
    assert (read_get.method, read_get.raw_path, read_get.body) == ("GET", "/v1/a?b=%20c", b"")
    assert dict(read_get.headers) == {
        "Host": "pixgate",
        "Authorization": "Basic YQ==",
        "Connection": "Keep-Alive",
    }
    assert read_post is not None
    assert (read_post.method, read_post.raw_path, read_post.body) == ("POST", "/v1/a", b"{}")


def test_a_request_with_signature_headers_is_parsed():
    headers = Signer().headers("/v1/a", b"{}", NOON)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()

    found = new_lane().read(POST.replace(b"Host", lines + b"Host", 1), Peer("", ServerLimits()))

    assert found is not None
    assert headers.items() <= dict(found.headers).items()


def with_line(line: bytes, message: bytes = GET) -> bytes:
    return message.replace(b"\r\nAuth", b"\r\n" + line + b"\r\nAuth")


ODD = {
    "method": GET.replace(b"GET", b"HEAD"),
    "method with a body": POST.replace(b"POST", b"PUT"),
    "surface": GET.replace(b"/v1/", b"/v2/"),
    "version": GET.replace(b"1.1", b"1.0"),
    "address": GET.replace(b"/v1/", b"http://pixgate/v1/"),
    "fragment": GET.replace(b"?b", b"#b"),
    "beyond ASCII in the target": GET.replace(b"?b", "?é".encode()),
    "two blanks": GET.replace(b"GET ", b"GET  "),
    "blank line before": b"\r\n" + GET,
    "head cut": GET[:-1],
    "body cut": POST[:-1],
    "byte behind": GET + b"G",
    "byte behind the body": POST + b"G",
    "two": GET + GET,
    "long line": with_line(b"A: " + b"a" * 200),
    "many headers": with_line(b"A: a\r\nB: a\r\nC: a"),
    "long body": POST.replace(b": 2", b": 9000").replace(b"{}", b" " * 9000),
    "tab": with_line(b"A: a\tb"),
    "beyond ASCII": with_line("A: é".encode()),
    "NUL": with_line(b"A: a\0b"),
    "CR alone": with_line(b"A: a\rb"),
    "LF alone": with_line(b"A: a\nB: b"),
    "folded": with_line(b"A: a\r\n b"),
    "space at the end": with_line(b"A: a "),
    "no value": with_line(b"A:"),
    "no value but spaces": with_line(b"A: "),
    "no name": with_line(b": a"),
    "space in a name": with_line(b"A : a"),
    "a name twice": with_line(b"authorization: Basic YQ=="),
    "two hosts": with_line(b"host: pixgate"),
    "no host": GET.replace(b"Host", b"Hist"),
    "no such host": GET.replace(b"pixgate", b"pix/gate"),
    "length with GET": with_line(b"Content-Length: 0"),
    "body with GET": with_line(b"Content-Length: 2") + b"{}",
    "no length with POST": POST.replace(b"Content-Length: 2\r\n", b"").replace(b"{}", b""),
    "length in other digits": POST.replace(b": 2", b": 02"),
    "signed length": POST.replace(b": 2", b": +2"),
    "chunked": POST.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked"),
    "two framings": with_line(b"Transfer-Encoding: chunked", POST),
    "last": GET.replace(b"Keep-Alive", b"close"),
    "upgrade": GET.replace(b"Keep-Alive", b"Upgrade"),
    "expectation": with_line(b"Expect: 100-continue", POST),
    "trailers": with_line(b"Trailer: A"),
    "coding of the answer": with_line(b"TE: gzip"),
    "another protocol": with_line(b"Upgrade: h2c"),
    "packed": with_line(b"Content-Encoding: gzip", POST),
    "old handshake": with_line(b"Sec-WebSocket-Key1: a"),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_unusual_requests_are_left_to_aiohttp(data: bytes):
    lane = new_lane()

    assert read(data, lane) is None
    assert read(GET, lane) is not None


def test_requests_at_the_size_limits_are_parsed_and_above_left_to_aiohttp():
    """One byte or header more is left to aiohttp."""
    line, body = b"A: " + b"a" * (SMALL.header_line_bytes - len(GET) - len("A: \r\n")), b" " * 8000
    post = POST.replace(b": 2", b": 8000").replace(b"{}", body)
    padded = with_line(b"A: " + b"a" * (LARGEST_BYTES - len(post) - len("A: \r\n")), post)

    assert read(with_line(line)) is not None
    assert read(with_line(line + b"a")) is None
    assert read(with_line(b"A: a\r\nB: a")) is not None
    assert read(padded) is not None
    assert len(padded) == LARGEST_BYTES
    assert read(padded.replace(b"A: ", b"A: a")) is None


def test_an_answer_is_written_with_one_line_per_header():
    (answer,) = split(to_bytes(Reply(201, {"A": "b"}, b"{}"), is_last=True))
    (kept,) = split(to_bytes(Reply(200, {}), is_last=False))

    assert (answer.status, answer.body, answer.headers["a"]) == (201, b"{}", "b")
    assert (answer.headers["server"], answer.headers["connection"]) == ("pixgate", "close")
    assert "connection" not in kept.headers
    with pytest.raises(ValueError, match="several lines"):
        to_bytes(Reply(200, {"A": "b\r\nC: d"}), is_last=False)


@dataclass
class Both:
    """What has served: our reader or aiohttp."""

    served: list[tuple[str, str]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def whole(self, request: WholeRequest) -> Reply:
        self.served.append(("lane", request.raw_path))
        if request.raw_path == "/v1/held":
            await self.gate.wait()
        if request.raw_path == "/v1/broken":
            raise LookupError
        return Reply(200, {"Content-Type": "text/plain", "A": "b"}, request.raw_path.encode())

    async def handle(self, request: web.Request) -> web.Response:
        await read_body(request, 100, 5)
        self.served.append(("aiohttp", request.raw_path))
        headers = {"Content-Type": "text/plain", "A": "b"}
        return web.Response(body=request.raw_path.encode(), headers=headers)

    def by(self) -> list[str]:
        """Name what served, in order."""
        return [who for who, _ in self.served]


@contextlib.asynccontextmanager
async def listening(both: Both, told: list[str] | None = None) -> AsyncIterator[Listener]:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", both.handle)
    app[LANE] = new_lane(both.whole)
    codes = [] if told is None else told
    refusals = Refusals(on_refusal=lambda error, _: codes.append(error.code))
    listener = Listener(app, at=Address(), limits=PATIENT, refusals=refusals)
    await listener.start()
    try:
        yield listener
    finally:
        both.gate.set()
        await listener.close(1.0)


@dataclass(frozen=True)
class Connected:
    listener: Listener
    front: Front
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def tell(self, segment: bytes, answers: int = 0) -> list[Answer]:
        """Deliver a segment; return so many answers, after which it is over with them."""
        self.front.data_received(segment)
        raw = b""
        while len(split(raw)) < answers:
            raw += await self.reader.readuntil(b"\r\n\r\n")
            raw += await self.reader.readexactly(int(_LENGTH.findall(raw)[-1]))
        if answers:
            await until(lambda: not self.listener.connections.in_flight)
        return split(raw)


_LENGTH = re.compile(rb"Content-Length: (\d+)")


@contextlib.asynccontextmanager
async def connected(both: Both, told: list[str] | None = None) -> AsyncIterator[Connected]:
    async with listening(both, told) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        await until(lambda: listener.connections.open_connections)
        (front,) = listener.connections._open
        yield Connected(listener, front, reader, writer)
        both.gate.set()
        writer.close()


async def test_the_lane_answers_like_aiohttp():
    """Whole and cut requests get the same answer, except for its date."""
    both = Both()
    async with connected(both) as caller:
        (by_lane,) = await caller.tell(GET, answers=1)
        await caller.tell(GET[:9])
        (by_aiohttp,) = await caller.tell(GET[9:], answers=1)

    assert both.by() == ["lane", "aiohttp"]
    assert list(by_lane.headers) == list(by_aiohttp.headers)
    del by_lane.headers["date"], by_aiohttp.headers["date"]
    assert by_lane == by_aiohttp


async def test_a_connection_switches_between_lane_and_aiohttp():
    """A request with a body is aiohttp's; the next one is our reader's again."""
    both = Both()
    async with connected(both) as caller:
        await caller.tell(GET, answers=1)
        await caller.tell(POST[:-2])
        await caller.tell(POST[-2:], answers=1)
        await caller.tell(POST, answers=1)
        await caller.tell(GET.replace(b"Keep-Alive", b"keep-alive, a"), answers=1)
        await caller.tell(GET, answers=1)

    assert both.by() == ["lane", "aiohttp", "lane", "aiohttp", "lane"]


@pytest.mark.parametrize("before", [POST[-2:], POST[-2:] + GET], ids=["begun", "and one between"])
async def test_a_part_of_an_open_request_is_left_to_aiohttp(before: bytes):
    """Aiohttp has the beginning of a request, whose next line looks like one."""
    both, answers = Both(), before.count(b"GET") + 1
    begun = b"GET /v1/begun HTTP/1.1\r\nX: "
    async with connected(both) as caller:
        await caller.tell(POST[:-2])
        await caller.tell(before + begun, answers=answers)
        (answer,) = await caller.tell(GET, answers=1)
        await caller.tell(GET, answers=1)

    assert answer.body == b"/v1/begun"
    assert both.by() == ["aiohttp"] * (answers + 2)


async def test_a_request_after_a_blank_line_is_left_to_aiohttp():
    both = Both()
    async with connected(both) as caller:
        await caller.tell(b"\r\n")
        await caller.tell(GET, answers=1)

    assert both.by() == ["aiohttp"]


async def test_no_request_is_handled_while_writing_is_paused():
    both = Both()
    async with connected(both) as caller:
        caller.front.pause_writing()
        await caller.tell(GET)
        await settle()
        meanwhile = both.by()
        caller.front.resume_writing()
        await caller.tell(b"", answers=1)

    assert (meanwhile, both.by()) == ([], ["aiohttp"])


async def test_a_connection_with_a_chunked_body_is_left_to_aiohttp():
    """Its length is unknown before its end."""
    both = Both()
    async with connected(both) as caller:
        await caller.tell(ODD["chunked"][:-2] + b"0\r\n\r\n", answers=1)
        await caller.tell(GET, answers=1)

    assert both.by() == ["aiohttp", "aiohttp"]


async def test_a_pipelined_request_is_answered_after_the_first():
    both = Both()
    async with connected(both) as caller:
        await caller.tell(HELD)
        await caller.tell(GET)
        await settle()
        meanwhile = both.by()
        both.gate.set()
        answers = await caller.tell(GET, answers=3)

    assert meanwhile == ["lane"]
    assert [each.body for each in answers] == [b"/v1/held", b"/v1/a?b=%20c", b"/v1/a?b=%20c"]


class Unclosed:
    """A transport whose end waits, as for a caller who has not read the answer."""

    def __init__(self, transport: object) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)

    def close(self) -> None:
        """Wait."""


async def test_nothing_is_served_after_the_last_answer():
    """A refused head ends the connection together with the answer before it."""
    both = Both()
    async with connected(both) as caller:
        caller.front._transport = cast("asyncio.Transport", Unclosed(caller.front._transport))
        await caller.tell(HELD)
        await caller.tell(POST)
        await caller.tell(ODD["two blanks"])
        both.gate.set()
        (answer,) = await caller.tell(b"", answers=1)
        await settle()

    assert (answer.headers["connection"], both.by()) == ("close", ["lane"])


async def test_a_half_closed_connection_is_answered_and_closed():
    both = Both()
    async with connected(both) as caller:
        await caller.tell(HELD)
        caller.writer.write_eof()
        await until(lambda: caller.front.is_last)
        both.gate.set()
        (answer,) = split(await caller.reader.read())

    assert (answer.body, answer.headers["connection"]) == (b"/v1/held", "close")


async def test_an_unexpected_error_is_answered_once_and_reported():
    both, told = Both(), []
    async with connected(both, told) as caller:
        await caller.tell(GET.replace(b"/v1/a?b=%20c", b"/v1/broken"))
        await caller.tell(POST)
        (answer,) = split(await caller.reader.read())
        caller.writer.write_eof()
        await until(lambda: not caller.listener.connections.open_connections)

    assert (answer.code, told, both.by()) == ("SVC.SYS.001", ["SVC.SYS.001"], ["lane"])


async def test_no_queued_request_is_served_once_the_listener_closes():
    """Requests already served are answered as the last ones: queued ones are not served."""
    both = Both()
    async with connected(both) as caller:
        await caller.tell(HELD)
        await caller.tell(POST)
        await caller.listener.stop_accepting()
        both.gate.set()
        (answer,) = split(await caller.reader.read())
        await settle()

    assert (answer.status, answer.headers["connection"], both.by()) == (200, "close", ["lane"])


async def test_a_request_to_a_closing_listener_is_refused():
    both = Both()
    async with connected(both) as caller:
        await caller.listener.stop_accepting()
        await caller.tell(GET)
        (answer,) = split(await caller.reader.read())

    assert (answer.code, both.served) == ("SVC.GTW.006", [])


async def test_a_request_is_cancelled_at_the_closing_deadline():
    both = Both()
    async with connected(both) as caller:
        await caller.tell(HELD)
        await settle()
        finished = await caller.listener.close(0.05)

        assert (finished, await caller.reader.read()) == (False, b"")


async def test_closing_the_listener_closes_idle_connections():
    """Including those aiohttp never saw, before the loop ends."""
    both = Both()
    async with connected(both) as caller:
        await caller.tell(GET, answers=1)
        await caller.listener.close(1.0)

        assert caller.listener.connections.open_connections == 0
