"""The usual answer is what the parser would have made of it; everything else is left to that."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.bank.providers import ProviderError
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.response_reader import LazyHeaders, ResponseReader, read_fast
from tests.world.banks.scripted import answer

LARGEST = 4096
USUAL = answer(b'{"a": 1}')
PIECES = (
    b"HTTP/1.1 ", b"200", b"204", b"304", b"100", b"99", b" OK", b"\r\n", b"\n", b"\r", b" ",
    b"\t", b"Content-Length: 2", b"content-LENGTH :2", b"Content-Length: 02", b"Content-Length: +2",
    b"Transfer-Encoding: chunked", b"transfer-encoding:chunked", b"Content-Encoding: gzip",
    b"Connection: keep-alive", b"connection: keep-alive, close", b"Connection: close",
    b"Keep-Alive: timeout=5", b"Upgrade: x", b"Date: now", b"X: \xff", b"X:", b": x", b"X y: z",
    b"{}", b"{} ", b"\x00",
)  # fmt: skip


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def parsed(loop: asyncio.AbstractEventLoop, data: bytes) -> ProviderAnswer | None:
    """Read without a read_fast; None for what is no whole answer that another may follow."""
    reading = ResponseReader(loop, LARGEST)
    reading.begin(lambda _: None)
    reading._begin_parsing()
    try:
        found = reading.feed(data)
    except ProviderError:
        return None
    return found if reading.reusable else None


def test_the_usual_answer_is_read():
    found = read_fast(USUAL, LARGEST)

    assert found is not None
    assert (found.status, found.body) == (200, b'{"a": 1}')
    assert found.headers["content-TYPE"] == "application/json"


def test_unusual_answers_are_left_to_the_parser():
    unusual = [
        b"",
        USUAL[:-1],
        USUAL + b"x",
        USUAL.replace(b"\r\n", b"\n"),
        USUAL.replace(b"1.1", b"1.0"),
        answer(status="204 No Content"),
        answer(status="304 Not Modified"),
        answer(status="100 Continue"),
        answer(headers=(b"Content-Length: 2",)),
        answer(headers=(b"Transfer-Encoding: chunked",)),
        answer(headers=(b"transfer-encoding : chunked",)),
        answer(headers=(b"Content-Encoding: gzip",)),
        answer(headers=(b"Connection: close",)),
        answer(headers=(b"Connection: keep-alive, close",)),
        answer(headers=(b"Keep-Alive: timeout=5",)),
        answer(headers=(b"Upgrade: x",)),
        answer(headers=(b"X: a\r\n folded",)),
        answer(headers=(b"X: \xe7",)),
        answer(headers=(b"X: " + b"x" * 9000,)),
        answer(headers=(b"X: y",) * 200),
        answer(b"x" * (LARGEST + 1)),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000002\r\n\r\n{}",
    ]

    assert [data for data in unusual if read_fast(data, LARGEST) is not None] == []


def test_a_connection_that_is_kept_is_usual():
    for header in (b"Connection: keep-alive", b"connection:KEEP-ALIVE ", b"X:"):
        assert read_fast(answer(headers=(header,)), LARGEST) is not None


def test_a_header_sent_twice_is_told_twice():
    fields = LazyHeaders(b"Set-Cookie: a\r\nA:\t b \r\nset-cookie: c\r\n")

    assert list(fields.items()) == [("Set-Cookie", "a"), ("A", "b"), ("set-cookie", "c")]
    assert (len(fields), fields["SET-COOKIE"], fields.get("none")) == (3, "a", None)
    assert {"set-cookie", "a"} == {name.lower() for name in fields}


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=24), length=st.booleans())
def test_what_is_usual_the_parser_reads_alike(
    loop: asyncio.AbstractEventLoop, pieces: list[bytes], length: bool
):
    """Heads of words that bound a body, in any order; never one answer here, another there."""
    framed = b"Content-Length: 2\r\n" if length else b""
    data = b"HTTP/1.1 200 OK\r\n" + framed + b"".join(pieces) + b"\r\n\r\n{}"
    for each in (data, b"".join(pieces), b"\r\n".join((b"HTTP/1.1 200 OK", *pieces, b"", b"{}"))):
        found = read_fast(each, LARGEST)
        if found is None:
            continue
        other = parsed(loop, each)

        assert other is not None, each
        assert (found.status, found.body) == (other.status, other.body)
        assert list(found.headers.items()) == list(other.headers.items())
