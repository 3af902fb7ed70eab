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


def test_the_end_of_a_head_is_found_wherever_it_is_cut():
    ends = [HeadEnd() for _ in HEAD]

    found = [(end.find(HEAD[:cut]), end.find(HEAD[cut:] + b"body")) for cut, end in enumerate(ends)]

    assert found == [(cut, len(HEAD) - cut) for cut in range(len(HEAD))]


def test_the_end_is_found_byte_by_byte():
    end = HeadEnd()

    assert sum(end.find(bytes([byte])) for byte in HEAD) == len(HEAD)
    assert end.find(b"\r\n\r\nx") == 4


async def test_the_length_of_a_body():
    expected = {
        ("Content-Length: 0",): 0,
        ("Content-Length: 17",): 17,
        (): None,
        ("Transfer-Encoding: chunked",): None,
        ("Transfer-Encoding: Chunked",): None,
        ("Content-Encoding: identity", "Content-Length: 1"): 1,
    }

    assert {headers: body_length(message(*headers)) for headers in expected} == expected


async def test_what_two_readers_may_read_differently_is_refused():
    cases = [
        (["Content-Encoding: br"], "1.1", "content_coding"),
        (["Content-Encoding: gzip", "Content-Encoding: gzip"], "1.1", "content_coding"),
        (["Content-Encoding: identity", "Content-Encoding: gzip"], "1.1", "content_coding"),
        (["Transfer-Encoding: gzip"], "1.1", "content_coding"),
        (["Transfer-Encoding: gzip, chunked"], "1.1", "content_coding"),
        (["Transfer-Encoding: chunked"], "1.0", "not_http"),
        (["Content-Length: 18446744073709551615"], "1.1", "not_http"),
        ([], "2.0", "not_http"),
        ([], "0.9", "not_http"),
    ]
    for headers, version, reason in cases:
        with pytest.raises(BadReply) as failed:
            body_length(message(*headers, version=version))

        assert (failed.value.reason, failed.value.http_status) == (reason, 200), headers


async def test_how_long_a_connection_is_kept():
    """As long as the bank says, if it says so."""
    expected = {"timeout=5": 5.0, "max=10, Timeout = 7": 7.0, "max=10": None, "timeout=-1": None}

    assert {said: kept_for(message(f"Keep-Alive: {said}")) for said in expected} == expected
    assert kept_for(message()) is None


def test_which_answers_are_followed_by_another_or_have_no_body():
    expected = {
        100: (True, False), 101: (False, True), 103: (True, False), 200: (False, False),
        204: (False, True), 304: (False, True), 500: (False, False),
    }  # fmt: skip

    found = {status: (is_interim(status), is_without_body(status)) for status in expected}

    assert found == expected


WHOLE = b"5\r\nhello\r\nA;a=b\r\n0123456789\r\n003 \r\n\r\n\n\r\n0\r\nX: y\r\n\r\n"


def bytes_of(data: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in data]


def follow(*segments: bytes) -> None:
    chunks = Chunks()
    for segment in segments:
        chunks.follow(segment)


def test_whole_ones_are_followed_wherever_they_are_cut():
    follow(WHOLE)
    follow(*bytes_of(WHOLE))
    for cut in range(len(WHOLE)):
        follow(WHOLE[:cut], WHOLE[cut:])


def test_what_comes_behind_does_not_matter():
    for behind in (b"HTTP/1.1 200 OK\r\n", b"\n", b"nonsense\n"):
        follow(WHOLE + behind)
        follow(WHOLE, behind)


def test_what_two_readers_may_read_apart_is_refused():
    """Whole, and byte by byte."""
    wrong = [
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
    ]
    too_long = b"5;" + b"x" * 70_000
    for segments in (*((data,) for data in (*wrong, too_long)), *(map(bytes_of, wrong))):
        with pytest.raises(BadReply) as failed:
            follow(*segments)

        assert failed.value.reason == "not_http", segments
