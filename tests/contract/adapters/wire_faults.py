"""
Everything a bank's wire can do wrong, and the one thing an adapter makes of each.

A fault is the same for every bank: it happens below what a bank says.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from dataclasses import dataclass

from gateway.domain.bank.providers import (
    BadReply,
    CredentialsRefused,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
)
from tests.unit.provider_adapters.scripted import Line, Play, answer, saying

MIB = 1024 * 1024


@dataclass(frozen=True)
class WireFault:
    """
    A fault after connecting, so of unknown outcome for a payout.

    Attributes:
        read: What a read raises.
        reason: The fixed reason, of the read's error and of the payout's
            Unknown; empty where it depends on the bank or on time.
        reads: Whether the bank reads the request at all.
    """

    name: str
    play: Play
    read: type[ProviderError]
    reason: str
    reads: bool = True


async def close(_: Line) -> None:
    """Return, and the connection is closed."""


async def reset(line: Line) -> None:
    line.reset()


async def hang(line: Line) -> None:
    await line.reader.read()


def then(first: bytes, play: Play) -> Play:
    async def both(line: Line) -> None:
        await line.say(first)
        await asyncio.sleep(0.02)
        await play(line)

    return both


async def drip(line: Line) -> None:
    for byte in answer(b'{"id":1}'):
        await line.say(bytes([byte]))
        await asyncio.sleep(0.05)


def endless(head: bytes, piece: Callable[[int], bytes]) -> Play:
    async def flood(line: Line) -> None:
        await line.say(head)
        for turn in range(1_000_000):
            await line.say(piece(turn))

    return flood


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
HALF_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: appl"
HALF_BODY = answer(b'{"id": "1", "rest": "...."}')[:-5]
BOMB = gzip.compress(b"x" * (8 * MIB))


def _bad(name: str, data: bytes, reason: str) -> WireFault:
    return WireFault(name, saying(data), BadReply, reason)


def _status(status: str, read: type[ProviderError], reason: str, *headers: bytes) -> WireFault:
    body = b"<html>\r\nSet-Cookie: a=b\r\n" + b"sorry " * 2000
    return WireFault(f"status {status}", saying(answer(body, status=status, headers=headers)),
                     read, reason)  # fmt: skip


FAULTS = (
    WireFault("close before reading", close, Unavailable, "connection_lost", reads=False),
    WireFault("reset before reading", reset, Unavailable, "connection_lost", reads=False),
    WireFault("hang before reading", hang, Unavailable, "timeout", reads=False),
    WireFault("close after reading", close, Unavailable, "connection_lost"),
    WireFault("reset after reading", reset, Unavailable, "connection_lost"),
    WireFault("hang after reading", hang, Unavailable, "timeout"),
    WireFault("half head, close", then(HALF_HEAD, close), Unavailable, "connection_lost"),
    WireFault("half head, reset", then(HALF_HEAD, reset), Unavailable, "connection_lost"),
    WireFault("half head, hang", then(HALF_HEAD, hang), Unavailable, "timeout"),
    WireFault("half body, close", then(HALF_BODY, close), BadReply, "answer_cut_short"),
    WireFault("half body, reset", then(HALF_BODY, reset), BadReply, "answer_cut_short"),
    WireFault("half body, hang", then(HALF_BODY, hang), Unavailable, "timeout"),
    WireFault("drip", drip, Unavailable, "timeout"),
    WireFault(
        "endless chunks",
        endless(CHUNKED, lambda _: b"10000\r\n" + b" " * 65536 + b"\r\n"),
        BadReply,
        "too_large",
    ),
    WireFault(
        "endless tiny chunks",
        endless(CHUNKED, lambda _: b"1\r\n \r\n" * 4096),
        ProviderError,
        "",
    ),
    WireFault(
        "endless headers",
        endless(b"HTTP/1.1 200 OK\r\n", lambda turn: b"X-%d: y\r\n" % turn * 1000),
        BadReply,
        "not_http",
    ),
    WireFault(
        "endless informational answers",
        endless(b"", lambda _: b"HTTP/1.1 102 Processing\r\n\r\n"),
        Unavailable,
        "timeout",
    ),
    _bad("100 000 headers", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n", "not_http"),
    _bad("a header of 64 KiB", answer(headers=(b"X-A: " + b"a" * 65536,)), "not_http"),
    _bad(
        "length over the limit",
        answer(headers=())[:-2].replace(b"h: 2", b"h: 67108864"),
        "too_large",
    ),
    _bad("body over the limit", answer(b'{"a":"' + b"x" * (2 * MIB) + b'"}'), "too_large"),
    _bad("compressed", answer(BOMB, headers=(b"Content-Encoding: gzip",)), "content_coding"),
    _bad("garbage", b"\x16\x03\x01\x00 what is this\r\n\r\n", "not_http"),
    _bad("other protocol", b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "not_http"),
    _bad("two lengths", answer(headers=(b"Content-Length: 7",)), "not_http"),
    _bad("a length that is no number", answer().replace(b"h: 2", b"h: 2x"), "not_http"),
    _bad("HTML 200", answer(b"<html>maintenance</html>"), "not_json"),
    _bad("empty 200", answer(b""), "not_json"),
    _bad("half a document", answer(b'{"id": "1", "e2e'), "not_json"),
    _bad("two documents", answer(b"{}{}"), "wrong_shape"),
    _bad("byte order mark", answer(b"\xef\xbb\xbf{}"), "not_json"),
    _bad("not UTF-8", answer(b'{"id": "\xff\xfe"}'), ""),
    _bad("NaN", answer(b'{"id": NaN}'), "not_json"),
    _bad("100 000 levels", answer(b'{"a":' + b"[" * 100_000), "not_json"),
    _bad("missing fields", answer(b"{}"), "wrong_shape"),
    _bad("a list", answer(b"[]"), "wrong_shape"),
    _bad("null", answer(b"null"), "wrong_shape"),
    _status("201 Created", BadReply, ""),
    _status("204 No Content", BadReply, ""),
    _status("302 Found", BadReply, "redirected", b"Location: http://127.0.0.1:1/"),
    _status("307 Temporary Redirect", BadReply, "redirected", b"Location: /elsewhere"),
    _status("400 Bad Request", Refused, "refused"),
    _status("401 Unauthorized", CredentialsRefused, "credentials_refused"),
    _status("403 Forbidden", Refused, "refused"),
    _status("404 Not Found", BadReply, "unexpected_status"),
    _status("409 Conflict", Refused, "refused"),
    _status("429 Too Many Requests", RateLimited, "rate_limited", b"Retry-After: 30"),
    _status("500 Internal Server Error", Unavailable, "server_error"),
    _status("502 Bad Gateway", Unavailable, "server_error"),
    _status("503 Service Unavailable", Unavailable, "server_error", b"Retry-After: 1"),
    _status("504 Gateway Timeout", Unavailable, "server_error"),
)
