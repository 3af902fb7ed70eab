"""Where a head ends, and how long a body is."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp.http_parser import RawResponseMessage

from gateway.domain.bank.providers import BadReply
from gateway.net.client.framing import (
    Chunks,
    HeadEnd,
    body_length,
    is_interim,
    is_without_body,
    kept_for,
)
from gateway.net.client.response_reader import make_parser

HEAD = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"


def message(*headers: str, version: str = "1.1") -> RawResponseMessage:
    head = "\r\n".join([f"HTTP/{version} 200 OK", *headers, "", ""]).encode()
    return make_parser(asyncio.get_running_loop()).feed_data(head)[0][0][0]


@pytest.mark.parametrize("cut", range(len(HEAD)))
def test_the_end_of_a_head_is_found_however_it_is_cut(cut: int):
    end = HeadEnd()
    segments = (HEAD[:cut], HEAD[cut:] + b"body")

    found = [end.find(segment) for segment in segments]

    assert found == [cut, len(HEAD) - cut]


def test_the_end_is_found_byte_by_byte():
    end = HeadEnd()

    assert sum(end.find(bytes([byte])) for byte in HEAD) == len(HEAD)
    assert end.find(b"\r\n\r\nx") == 4


@pytest.mark.parametrize(
    ("headers", "length"),
    [
        (["Content-Length: 0"], 0),
        (["Content-Length: 17"], 17),
        ([], None),
        (["Transfer-Encoding: chunked"], None),
        (["Transfer-Encoding: Chunked"], None),
        (["Content-Encoding: identity", "Content-Length: 1"], 1),
    ],
)
async def test_the_length_of_a_body(headers: list[str], length: int | None):
    assert body_length(message(*headers)) == length


@pytest.mark.parametrize(
    ("headers", "version", "reason"),
    [
        (["Content-Encoding: gzip"], "1.1", "content_coding"),
        (["Content-Encoding: identity", "Content-Encoding: gzip"], "1.1", "content_coding"),
        (["Transfer-Encoding: gzip"], "1.1", "content_coding"),
        (["Transfer-Encoding: gzip, chunked"], "1.1", "content_coding"),
        (["Transfer-Encoding: chunked"], "1.0", "not_http"),
        (["Content-Length: 18446744073709551615"], "1.1", "not_http"),
        ([], "2.0", "not_http"),
        ([], "0.9", "not_http"),
    ],
)
async def test_what_two_readers_may_read_differently(headers: list[str], version: str, reason: str):
    with pytest.raises(BadReply) as failed:
        body_length(message(*headers, version=version))

    assert (failed.value.reason, failed.value.http_status) == (reason, 200)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("timeout=5", 5.0), ("max=10, Timeout = 7", 7.0), ("max=10", None), ("timeout=-1", None)],
)
async def test_how_long_a_connection_is_kept(said: str, seconds: float | None):
    assert kept_for(message(f"Keep-Alive: {said}")) == seconds


async def test_a_bank_need_not_say_how_long():
    assert kept_for(message()) is None


@pytest.mark.parametrize(
    ("status", "interim", "bodiless"),
    [(100, True, False), (101, False, True), (103, True, False), (200, False, False),
     (204, False, True), (304, False, True), (500, False, False)],
)  # fmt: skip
def test_which_answers_are_followed_by_another_or_have_no_body(
    status: int, interim: bool, bodiless: bool
):
    assert (is_interim(status), is_without_body(status)) == (interim, bodiless)


WHOLE = b"5\r\nhello\r\nA;a=b\r\n0123456789\r\n003 \r\n\r\n\n\r\n0\r\nX: y\r\n\r\n"


def follow(*segments: bytes) -> None:
    chunks = Chunks()
    for segment in segments:
        chunks.follow(segment)


def test_whole_ones_are_followed_wherever_they_are_cut():
    follow(WHOLE)
    follow(*(bytes([byte]) for byte in WHOLE))
    for cut in range(len(WHOLE)):
        follow(WHOLE[:cut], WHOLE[cut:])


@pytest.mark.parametrize("behind", [b"HTTP/1.1 200 OK\r\n", b"\n", b"nonsense\n"])
def test_what_comes_behind_does_not_matter(behind: bytes):
    follow(WHOLE + behind)
    follow(WHOLE, behind)


@pytest.mark.parametrize(
    "data",
    [
        b"5\r\nhell\r\n0\r\n\r\n",
        b"4\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\r\n",
        b"5\r\nhello\n",
        b"5\rhello\r\n",
        b"5\r\nhello\r\n0\r\n\n",
        b"5\r\nhello\r\n0\r\nX: \r y\r\n\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x5\r\nhello\r\n",
        b"5 5\r\nhello\r\n",
        b"ffffffffffffffff\r\n",
        b"5;" + b"x" * 70_000,
    ],
)
def test_what_two_readers_may_read_apart_is_refused(data: bytes):
    for segments in ((data,), tuple(bytes([byte]) for byte in data[:100])):
        if len(data) > 100 and len(segments) > 1:
            continue
        with pytest.raises(BadReply) as failed:
            follow(*segments)

        assert failed.value.reason == "not_http"
