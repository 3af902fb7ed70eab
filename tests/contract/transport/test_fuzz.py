"""Any bytes at all: never a crash, never another answer than aiohttp's client would read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.domain.accounts import Environment
from gateway.domain.providers import ProviderError
from provider_adapters._shared.messages import ProviderAnswer
from provider_adapters._shared.passage import Passage
from provider_adapters._shared.wire.reading import Reading
from provider_adapters._shared.wire.transport import WireTransport
from tests.contract.transport.roads import LIMITS, READ
from tests.unit.provider_adapters.scripted import Line, ScriptedBank, answer, standing
from tests.unit.provider_adapters.stock import StockTransport

LARGEST = 2048
SEEDS = (
    answer(b'{"a": 1}'),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
)
NAMES = st.from_regex(r"X-[A-Za-z0-9-]{1,12}", fullmatch=True)
VALUES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=30)
BODIES = st.binary(max_size=600)
STATUSES = st.sampled_from([200, 201, 202, 204, 302, 304, 400, 404, 409, 422, 429, 500, 503])


@dataclass(frozen=True)
class Told:
    """An answer as the bank meant it, and its bytes."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    data: bytes = field(repr=False)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Take a good answer and spoil it in a few places."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        piece = draw(st.binary(max_size=4) | st.sampled_from([b"\r\n", b"\n", b"\r", b"0", b":"]))
        data[at : at + draw(st.integers(0, 3))] = piece
    return bytes(data)


@st.composite
def told(draw: st.DrawFn) -> Told:
    """Make a well-formed answer of each framing."""
    status, body = draw(STATUSES), draw(BODIES)
    headers = draw(st.lists(st.tuples(NAMES, VALUES), max_size=8))
    framing = draw(st.sampled_from(["length", "chunks", "end"]))
    if status in {204, 304}:
        body, framing = b"", "none"
    lines = [f"HTTP/1.1 {status} Some Reason", *(f"{name}: {value}" for name, value in headers)]
    sent = body
    if framing == "length":
        lines.append(f"Content-Length: {len(body)}")
    elif framing == "chunks":
        lines.append("Transfer-Encoding: chunked")
        size = draw(st.integers(1, 200))
        parts = [body[at : at + size] for at in range(0, len(body), size)]
        sent = b"".join(b"%X\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
    data = "\r\n".join([*lines, "", ""]).encode() + sent
    hint = draw(st.sampled_from([b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"]))
    return Told(status, headers, body, hint + data)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[one:two] for one, two in pairwise(edges)]


def read(loop: asyncio.AbstractEventLoop, segments: Sequence[bytes]) -> object:
    """Read segments, then the end; say what was made of them."""
    reading = Reading(loop, LARGEST)
    try:
        for segment in segments:
            found = reading.feed(segment)
            if found is not None:
                return found.status, found.body
        found = reading.end()
    except ProviderError as failure:
        return failure.reason
    return found.status, found.body


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@given(data=mutated() | st.binary(max_size=300), places=st.lists(st.integers(0, 400), max_size=6))
@example(data=b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", places=[])
@example(data=b"HTTP/1.1 101 X\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\nabc", places=[])
def test_no_bytes_break_the_reader(
    loop: asyncio.AbstractEventLoop, data: bytes, places: Sequence[int]
):
    """An answer or a provider error; nothing else ever comes out."""
    read(loop, cut(data, places))


@given(answer=told(), behind=st.binary(max_size=40), places=st.lists(st.integers(0, 900)))
def test_segments_and_what_follows_change_nothing(
    loop: asyncio.AbstractEventLoop, answer: Told, behind: bytes, places: Sequence[int]
):
    """Except where the end of the connection is the end of the answer."""
    framed = b"ength:" in answer.data or b"chunked" in answer.data or not answer.body
    data = answer.data + (behind if framed and answer.status not in {204, 304} else b"")
    if answer.body == b"" and b"ength:" not in answer.data and b"chunked" not in answer.data:
        data = answer.data

    assert read(loop, cut(data, places)) == (answer.status, answer.body)


@dataclass
class Two:
    """A bank that says what it is told to, and both roads to it."""

    loop: asyncio.AbstractEventLoop
    said: bytes = b""
    bank: ScriptedBank = field(init=False)
    roads: Sequence[WireTransport | StockTransport] = ()

    async def play(self, line: Line) -> None:
        await line.say(self.said)

    async def ask(self, data: bytes) -> list[ProviderAnswer | ProviderError]:
        self.said = data
        found: list[ProviderAnswer | ProviderError] = []
        for way in self.roads:
            try:
                found.append(await way.call(READ, Passage()))
            except ProviderError as failure:
                found.append(failure)
        return found


@pytest.fixture(scope="module")
def two(loop: asyncio.AbstractEventLoop) -> Iterator[Two]:
    both = Two(loop)
    both.bank = ScriptedBank(both.play)
    stood = standing(both.bank)
    loop.run_until_complete(stood.__aenter__())
    both.roads = [
        kind(both.bank.url, LIMITS, Environment.SANDBOX) for kind in (WireTransport, StockTransport)
    ]
    for way in both.roads:
        loop.run_until_complete(way.start())
    yield both
    for way in both.roads:
        loop.run_until_complete(way.close())
    loop.run_until_complete(stood.__aexit__(None, None, None))


@given(meant=told())
def test_a_well_formed_answer_is_what_aiohttp_makes_of_it(two: Two, meant: Told):
    """Status, every header, body; and both are what the bank meant."""
    closing = meant.data.replace(b"Some Reason\r\n", b"Some Reason\r\nConnection: close\r\n", 1)

    ours, stock = two.loop.run_until_complete(two.ask(closing))

    assert isinstance(ours, ProviderAnswer)
    assert isinstance(stock, ProviderAnswer)
    assert (ours.status, ours.body) == (stock.status, stock.body) == (meant.status, meant.body)
    assert list(ours.headers.items()) == list(stock.headers.items())
