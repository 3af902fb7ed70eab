"""Bytes become answers, whatever segments they come in."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterable

import pytest

from gateway.domain.bank.providers import BadReply, ProviderError
from gateway.net.client.messages import ProviderAnswer
from gateway.net.client.response_reader import HEAD_BYTES, INTERIMS, ResponseReader, make_parser
from tests.world.banks.scripted import answer

LARGEST = 4096
BODY = b'{"a": 1}'
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'3\r\n{"a\r\n5;x=y\r\n": 1}\r\n0\r\nTrailer: t\r\n\r\n'
)
CLOSED = b"HTTP/1.1 200 OK\r\n\r\n" + BODY
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


class Heard:
    """A reading and what it told."""

    def __init__(self) -> None:
        self.reading = ResponseReader(asyncio.get_running_loop(), LARGEST)
        self.statuses: list[int] = []

    def read(self, *segments: bytes) -> ProviderAnswer | None:
        self.reading.begin(self.statuses.append)
        for segment in segments:
            found = self.reading.feed(segment)
            if found is not None:
                return found
        return None


def cuts(data: bytes) -> Iterable[tuple[bytes, ...]]:
    """In one piece, in two at every place, and byte by byte."""
    yield (data,)
    for cut in range(1, len(data)):
        yield data[:cut], data[cut:]
    yield tuple(bytes([byte]) for byte in data)


@pytest.mark.parametrize(
    "data",
    [answer(BODY), CHUNKED, EARLY + answer(BODY), EARLY * INTERIMS + CHUNKED],
    ids=["length", "chunks", "early hints", "many hints"],
)
async def test_an_answer_is_read_however_it_is_cut(data: bytes):
    """One reading reads them all, one after the other, as a kept connection does."""
    heard = Heard()
    for segments in cuts(data) if len(data) < 300 else [(data,)]:
        found = heard.read(*segments)

        assert found is not None
        assert (found.status, found.body) == (200, BODY)
        assert heard.reading.reusable
    assert set(heard.statuses) == {200}


async def test_an_answer_without_a_length_ends_with_the_connection():
    for segments in cuts(CLOSED):
        heard = Heard()

        assert heard.read(*segments) is None
        assert heard.reading.end().body == BODY
        assert not heard.reading.reusable


@pytest.mark.parametrize("data", [answer(BODY), CHUNKED, EARLY + answer(BODY)])
async def test_an_answer_that_is_cut_is_none(data: bytes):
    """At every byte: before its head is whole the connection is lost, then it is cut short."""
    whole = data.index(b"\r\n\r\n", len(EARLY) if data.startswith(EARLY) else 0) + 4
    for cut in range(len(data)):
        heard = Heard()
        assert heard.read(data[:cut]) is None

        with pytest.raises(ProviderError) as failed:
            heard.reading.end()

        expected = "answer_cut_short" if cut >= whole else "connection_lost"
        assert failed.value.reason == expected
        assert failed.value.http_status == (200 if cut >= whole else None)


async def test_an_answer_without_a_body_ends_with_its_head():
    """Whatever length the head speaks of."""
    for status in ("204 No Content", "304 Not Modified"):
        for length in ("", "Content-Length: 2\r\n"):
            heard = Heard()

            found = heard.read(f"HTTP/1.1 {status}\r\n{length}\r\n".encode())

            assert found is not None
            assert (found.body, heard.reading.reusable) == (b"", True)


async def test_an_answer_with_more_behind_it_is_the_last():
    """It is the bank's answer all the same: what follows belongs to nobody."""
    cases = [
        answer(b"lies", status="204 No Content"),
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        answer(headers=(b"Connection: close",)),
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        answer() + b"\r\n",
        answer() + b"x",
        answer() + answer(),
        answer(b"") + b"x",
        CHUNKED + b"garbage",
        CHUNKED + answer(),
    ]
    for data in cases:
        heard = Heard()

        found = heard.read(data)

        assert found is not None, data
        assert not heard.reading.reusable, data


async def test_malformed_answers_are_bad_replies():
    cases = [
        (b"SSH-2.0-x\r\n\r\n", "not_http"),
        (b"\r\n" * HEAD_BYTES, "not_http"),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 130, "not_http"),
        (b"HTTP/1.1 200 OK\r\n" + (b"A: " + b"b" * 8000 + b"\r\n") * 9, "not_http"),
        (b"HTTP/1.1 103 E\r\nContent-Length: 3\r\n\r\nabc", "not_http"),
        (CHUNKED.replace(b"3\r\n", b"zz\r\n"), "not_http"),
        (answer(b"x" * (LARGEST + 1)), "too_large"),
        (CHUNKED.replace(b"3\r\n", b"2000\r\n" + b"x" * 0x2000), "too_large"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (LARGEST + 1), "too_large"),
        (CHUNKED.replace(b"x=y", b"x" * (9 * LARGEST)), "too_large"),
        (answer(headers=(b"Content-Encoding: br",)), "content_coding"),
        (CHUNKED.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n", 1), "not_http"),
        (CHUNKED.replace(b"5;", b"6;"), "not_http"),
        (CHUNKED.replace(b"5;", b"4;"), "not_http"),
        (answer().replace(b"HTTP/1.1", b"RTSP/1.0"), "not_http"),
        (answer().replace(b"HTTP/1.1", b"ICE/1.0"), "not_http"),
        (answer(status="200 O\0K"), "not_http"),
        (EARLY.replace(b"Hints", b"\0") + answer(), "not_http"),
        (EARLY + answer(status="200 \x7f"), "not_http"),
    ]
    for data, reason in cases:
        heard = Heard()

        with pytest.raises(BadReply) as failed:
            heard.read(*(data[at : at + 1024] for at in range(0, len(data), 1024)))

        assert failed.value.reason == reason, data[:200]
        assert not heard.reading.reusable


async def test_a_compressed_answer_is_opened_though_nobody_asked_for_one():
    """A proxy of the bank may compress regardless; the limit is that of the plain body."""
    whole = gzip.compress(BODY)
    coded = (b"Content-Encoding: gzip",)
    opened = Heard().read(answer(whole, headers=coded))
    refused = {
        answer(gzip.compress(b"x" * (LARGEST + 1)), headers=coded): "too_large",
        answer(whole[:-4], headers=coded): "content_coding",
        answer(whole + b"x", headers=coded): "content_coding",
        answer(BODY, headers=coded): "content_coding",
    }

    assert opened is not None
    assert opened.body == BODY
    for data, reason in refused.items():
        with pytest.raises(BadReply) as failed:
            Heard().read(data)
        assert failed.value.reason == reason, data


@pytest.mark.parametrize("data", [b"\r\n" + answer(BODY), answer(BODY, status="200 J\xe1 foi")])
async def test_odd_ones_that_nobody_reads_otherwise_are_read(data: bytes):
    """A blank line before the answer; a reason in another language."""
    for segments in cuts(data):
        found = Heard().read(*segments)

        assert found is not None
        assert found.body == BODY


async def test_the_only_answer_of_a_connection_may_say_that_the_bank_closes():
    """Read at a glance like any other; nothing follows on that connection anyhow."""
    reading = ResponseReader(asyncio.get_running_loop(), LARGEST, single=True)
    for said in (b"Connection: close", b"Connection: keep-alive", b"X: y"):
        reading.begin(lambda _: None)
        found = reading.feed(answer(BODY, headers=(said,)))

        assert found is not None
        assert found.body == BODY
        assert not reading.reusable


async def test_after_too_many_hints_nothing_is_read():
    """A flood of them must not keep the process busy until the call's time is over."""
    heard = Heard()

    found = heard.read(EARLY * (INTERIMS + 1) + answer())

    assert (found, heard.reading.discarding) == (None, True)


async def test_bare_line_feeds_are_no_http():
    """Mixed with whole ones they end the head in two places."""
    heard = Heard()

    with pytest.raises(BadReply):
        heard.read(answer(BODY).replace(b"\r\n", b"\n"))


async def test_what_the_bank_says_of_its_patience_is_kept():
    heard = Heard()

    heard.read(answer(headers=(b"Keep-Alive: timeout=5",)))

    assert heard.reading.kept_s == 5


async def test_a_parser_serves_all_answers_of_its_connection():
    parser = make_parser(asyncio.get_running_loop())
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    first, second = (parser.feed_data(answer)[0][0] for _ in range(2))

    assert first[0].code == second[0].code == 200
    assert first[1].is_eof()
    assert second[1].read_nowait() == b"{}"


async def test_a_body_of_many_parts_is_never_paused():
    """A pause would leave bytes with the parser that nobody asks for again."""
    parser = make_parser(asyncio.get_running_loop())
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    [(_, body)] = parser.feed_data(head + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n")[0]

    assert body.is_eof()
    assert len(body.read_nowait()) == 100_000
