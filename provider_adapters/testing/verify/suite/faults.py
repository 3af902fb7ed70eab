"""
Faults of a bank's wire, and the one thing an adapter makes of each.

A fault is the same for every bank: it happens below what a bank says.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
)
from provider_adapters.testing.verify.relay import Line, Play, saying, written

# Between the pieces of what never ends: the adapter's time limit ends it, not its processor.
_PAUSE_S: Final = 0.005


@dataclass(frozen=True, slots=True)
class WireFault:
    """
    A fault after connecting, so of unknown outcome for a payout.

    Attributes:
        read: What a read raises.
        reason: Of the read's error and the payout's Unknown; empty where it depends on the bank.
        reads: Whether the bank reads the request at all.
        waits: Whether a time limit ends it.
        complete: Whether it is a success, and right for a call that wants no content.
    """

    name: str
    play: Play
    read: type[ProviderError]
    reason: str
    reads: bool = True
    waits: bool = False
    complete: bool = False


async def close(_: Line) -> None:
    """Return, and the connection is closed."""


async def reset(line: Line) -> None:
    """Close with RST."""
    line.reset()


async def hang(line: Line) -> None:
    """Say nothing until the adapter goes away."""
    await line.reader.read()


def then(first: bytes, play: Play) -> Play:
    """Say something before another play."""

    async def both(line: Line) -> None:
        await line.say(first)
        await asyncio.sleep(0.02)
        await play(line)

    return both


async def drip(line: Line) -> None:
    """Say a byte now and then."""
    for byte in written(b'{"id":1}'):
        await line.say(bytes([byte]))
        await asyncio.sleep(0.05)


def endless(head: bytes, piece: Callable[[int], bytes]) -> Play:
    """Never stop talking."""

    async def flood(line: Line) -> None:
        await line.say(head)
        for turn in range(1_000_000):
            await line.say(piece(turn))
            await asyncio.sleep(_PAUSE_S)

    return flood


_OK: Final = b"HTTP/1.1 200 OK\r\n"
_CHUNKED: Final = _OK + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
_CHUNK: Final = b"10000\r\n" + b" " * 65536 + b"\r\n"
_HEADERS: Final = b"X-%d: y\r\n" + b"X-Y: y\r\n" * 999
_HALF_HEAD: Final = _OK + b"Content-Type: appl"
_HALF_BODY: Final = written(b'{"id": "1", "rest": "...."}')[:-5]
_BOMB: Final = gzip.compress(b"x" * (2**23))
_EMPTY: Final = written(b"{}")
_SORRY: Final = b"<html>\r\nSet-Cookie: a=b\r\n" + b"sorry " * 2000


def _lost(name: str, play: Play, *, reads: bool = True) -> WireFault:
    return WireFault(name, play, Unavailable, "connection_lost", reads=reads)


def _late(name: str, play: Play, *, reads: bool = True) -> WireFault:
    return WireFault(name, play, Unavailable, "timeout", reads=reads, waits=True)


def _bad(name: str, data: bytes, reason: str, *, complete: bool = False) -> WireFault:
    return WireFault(name, saying(data), BadReply, reason, complete=complete)


def _status(
    status: str, read: type[ProviderError], reason: str, header: tuple[str, str] | None = None
) -> WireFault:
    data = written(_SORRY, status=status, headers=dict([header]) if header else None)
    complete = status.startswith("2")
    return WireFault(f"status {status}", saying(data), read, reason, complete=complete)


FAULTS: Final = (
    _lost("close before reading", close, reads=False),
    _lost("reset before reading", reset, reads=False),
    _late("hang before reading", hang, reads=False),
    _lost("close after reading", close),
    _lost("reset after reading", reset),
    _late("hang after reading", hang),
    _lost("half head, close", then(_HALF_HEAD, close)),
    _late("half head, hang", then(_HALF_HEAD, hang)),
    WireFault("half body, close", then(_HALF_BODY, close), BadReply, "answer_cut_short"),
    _late("half body, hang", then(_HALF_BODY, hang)),
    _late("drip", drip),
    WireFault("endless chunks", endless(_CHUNKED, lambda _: _CHUNK), BadReply, "too_large"),
    WireFault("endless headers", endless(_OK, lambda turn: _HEADERS % turn), BadReply, "not_http"),
    _late("endless informational answers", endless(b"", lambda _: b"HTTP/1.1 102 P\r\n\r\n")),
    _bad("a header of 64 KiB", written(b"{}", headers={"X-A": "a" * 65536}), "not_http"),
    _bad("length over the limit", _EMPTY[:-2].replace(b"h: 2", b"h: 67108864"), "too_large"),
    # too large for a client that opens it, a foreign coding for another
    _bad("compressed", written(_BOMB, headers={"Content-Encoding": "gzip"}), ""),
    _bad("garbage", b"\x16\x03\x01\x00 what is this\r\n\r\n", "not_http"),
    _bad("two lengths", _EMPTY.replace(b"\r\n\r\n", b"\r\nContent-Length: 7\r\n\r\n"), "not_http"),
    _bad("HTML 200", written(b"<html>maintenance</html>"), "not_json", complete=True),
    _bad("empty 200", written(b""), "not_json", complete=True),
    _bad("byte order mark", written(b"\xef\xbb\xbf{}"), "wrong_shape", complete=True),
    _bad("not UTF-8", written(b'{"id": "\xff\xfe"}'), "", complete=True),
    _bad("100 000 levels", written(b'{"a":' + b"[" * 100_000), "not_json", complete=True),
    _bad("missing fields", written(b"{}"), "wrong_shape", complete=True),
    _bad("a list", written(b"[]"), "wrong_shape", complete=True),
    _status("201 Created", BadReply, ""),
    _status("204 No Content", BadReply, ""),
    _status("307 Temporary Redirect", BadReply, "redirected", ("Location", "/elsewhere")),
    _status("400 Bad Request", Refused, "refused"),
    _status("401 Unauthorized", CredentialsRefused, "credentials_refused"),
    _status("404 Not Found", BadReply, "unexpected_status"),
    _status("429 Too Many Requests", RateLimited, "rate_limited", ("Retry-After", "30")),
    _status("503 Service Unavailable", Unavailable, "server_error", ("Retry-After", "1")),
)
"""All 34: before the request is read, in the head, in the body, as a status."""
EACH_KIND: Final = tuple(
    {(each.reads, each.read, each.reason): each for each in reversed(FAULTS)}.values()
)
"""The first fault of each error and reason; what differs within a kind is the HTTP client's."""
