"""Probes over raw sockets: whatever the bytes, one answer of ours, nothing echoed, still alive."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from gateway.net.server.listener import Listener
from tests.surfaces.wire.probes import ACCEPTED, CHUNKED, END, GET, GROUPS, MARK, NEXT, POST, Probe
from tests.world.raw_http import HOST, Exchange, ask, exchange
from tests.world.waiting import settle, until
from tests.world.wired import SHORT, Seen, listening

PATIENCE_S = 120.0
"""For the server to close; every answer here is followed by its end of the connection."""

LONG = replace(SHORT, header_deadline_s=60, body_deadline_s=60, answer_deadline_s=60, linger_s=60)
"""What is sent arrives in time, however busy the machine; a kept connection is closed soon."""


@pytest.fixture
def seen() -> Seen:
    return Seen(body_within_s=60)


@pytest.fixture
async def listener(seen: Seen) -> AsyncIterator[Listener]:
    async with listening(seen.answer, seen, LONG) as listener:
        yield listener


@asynccontextmanager
async def brief(seen: Seen) -> AsyncIterator[Listener]:
    """Listen with short deadlines, for what never comes."""
    async with listening(seen.answer, seen, replace(SHORT, keepalive_s=60)) as listener:
        yield listener


async def told_by(listener: Listener, *portions: bytes, gap_s: float = 0.03) -> Exchange:
    return await exchange(listener.port, *portions, gap_s=gap_s, patience_s=PATIENCE_S)


@pytest.mark.parametrize("group", list(GROUPS))
async def test_a_malformed_request_gets_our_error_answer(caplog, group: str):
    """Step 1 of the order of checks: our body, a trace id, nothing echoed or logged, and closed."""
    caplog.set_level(logging.DEBUG)

    found = await asyncio.gather(*(tried(each, late=group == "late") for each in GROUPS[group]))

    assert [each for each in found if each] == []
    assert MARK.decode() not in caplog.text


async def tried(probe: Probe, *, late: bool) -> str:
    """Say what is wrong with the answer to a probe; empty for nothing."""
    seen = Seen(body_within_s=0.3 if late else 60)
    async with listening(seen.answer, seen, SHORT if late else LONG) as listener:
        told = await told_by(listener, *probe.portions)
        alive = (await ask(listener.port)).status
    refused = [(probe.code, each.headers.get("x-trace-id")) for each in told.answers]
    holds = {
        "answer": [(each.status, each.code) for each in told.answers]
        == [(probe.status, probe.code)],
        "ours": len(told.answers) == 1 and is_ours(told),
        "refusals": seen.refusals == refused,
        "alive": alive == 200 and [path for path, _ in seen.requests] == ["/"],
    }
    wrong = [name for name, is_right in holds.items() if not is_right]
    return f"{probe.name}: {wrong} {told.raw!r}" if wrong else ""


async def test_an_unusual_valid_request_is_served():
    """Only what two readers would read differently is refused."""
    wrong = []
    for sent, path, body in ACCEPTED:
        seen = Seen(body_within_s=60)
        async with listening(seen.answer, seen, replace(LONG, keepalive_s=0.05)) as listener:
            told = await told_by(listener, sent)
        if (told.statuses, seen.requests) != ([200], [(path, body)]):
            wrong.append((sent[:60], told.raw))

    assert wrong == []


async def test_pipelined_requests_are_answered_in_order(listener, seen):
    """With a refusal of the application between them: 200, 401, 200."""
    requests = b"".join(
        b"GET /" + path + b" HTTP/1.1\r\n" + HOST + END for path in (b"1", b"401", b"3")
    )

    told = await told_by(listener, requests)

    assert told.statuses == [200, 401, 200]
    assert [path for path, _ in seen.requests] == ["/1", "/401", "/3"]


async def test_a_bad_request_after_a_good_one_is_refused_in_order(listener, seen):
    """The good one is answered although the bad one arrives meanwhile."""
    good = b"GET /held HTTP/1.1\r\n" + HOST + END
    bad = b"GET / HTTP/9.9\r\n" + HOST + END + NEXT
    asking = asyncio.ensure_future(told_by(listener, good, bad))
    await until(lambda: seen.requests)
    seen.gate.set()
    told = await asking

    assert told.statuses == [200, 400]
    assert [path for path, _ in seen.requests] == ["/held"]
    assert told.closed


@pytest.mark.parametrize(
    ("asked", "body"),
    [
        (b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n", b""),
        (b"GET / HTTP/1.1\r\n" + HOST + b"connection: x, Close\r\n\r\n", b""),
        (b"GET / HTTP/1.1\r\n" + HOST + b"Proxy-Connection: close\r\n\r\n", b""),
        (b"GET / HTTP/1.0\r\n\r\n", b""),
        (b"POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (
            b"POST / HTTP/1.1\r\n" + HOST + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello",
            b"hello",
        ),
        (
            CHUNKED[:-2] + b"Connection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            b"hello",
        ),
    ],
)
@pytest.mark.parametrize("behind", [NEXT, b"hello", b"\0", b"\r\n"])
async def test_bytes_after_a_last_request_are_ignored(listener, seen, asked, body, behind):
    """The request before them is complete and is answered (RFC 9112, 9.6)."""
    told = await told_by(listener, asked + behind)

    assert (told.statuses, told.closed) == ([200], True)
    assert [each[1] for each in seen.requests] == [body]


async def test_a_request_sent_byte_by_byte_is_served(listener, seen):
    """If it arrives in time."""
    request = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello"
    portions = [request[at : at + 1] for at in range(len(request))]

    told = await told_by(listener, *portions, gap_s=0)

    assert told.statuses == [200]
    assert seen.requests == [("/", b"hello")]


async def test_a_slowly_sending_caller_is_cut_off_at_the_deadline(seen):
    """Slowloris: further bytes do not extend the header deadline."""
    portions = [GET + HOST + b"X-A: ", *[b"a"] * 100]

    async with brief(seen) as listener:
        told = await told_by(listener, *portions, gap_s=0.01)

    assert told.statuses == [408]
    assert seen.requests == []


async def test_a_silent_caller_is_disconnected_without_an_answer(seen):
    """Without a byte there is no request to answer."""
    async with brief(seen) as listener:
        told = await told_by(listener)

    assert (told.raw, told.closed) == (b"", True)


async def test_an_idle_kept_connection_is_closed_without_an_answer(listener):
    """Keep-alive ends quietly; only a request that was begun is answered."""
    told = await told_by(listener, b"GET / HTTP/1.1\r\n" + HOST + END)

    assert (told.statuses, told.closed) == ([200], True)


async def test_an_unfinished_second_request_is_refused(seen):
    """The deadline of a later request runs from its first byte."""
    async with brief(seen) as listener:
        told = await told_by(listener, b"GET / HTTP/1.1\r\n" + HOST + END, b"GET / HT")

    assert told.statuses == [200, 408]
    assert told.closed


async def test_an_unread_body_is_not_read_as_a_request(listener, seen):
    """The connection is closed after the answer, and later bytes are dropped."""
    start = b"POST /unread HTTP/1.1\r\n" + HOST
    length = b"Content-Length: %d\r\n\r\n" % len(NEXT)

    told = await told_by(listener, start + length, NEXT, NEXT)

    assert told.statuses == [200]
    assert told.answers[0].headers["connection"] == "close"
    assert [path for path, _ in seen.requests] == ["/unread"]
    assert told.closed


@pytest.mark.parametrize(
    "start",
    [
        POST + HOST + b"Content-Length: 4000000\r\n\r\n",
        GET + HOST + b"no header\r\n",
        b"GET / HTTP/2.0\r\n" + HOST + END,
    ],
    ids=["too large", "malformed", "flawed"],
)
async def test_a_refused_caller_that_still_sends_is_not_reset(listener, start):
    """Megabytes under way when we refuse must not cost the caller the answer."""
    told = await told_by(listener, start, *[b"a" * 500_000] * 8, gap_s=0)

    assert len(told.answers) == 1
    assert not told.reset


async def test_an_unread_body_is_discarded(seen):
    """Reading was paused by a full buffer, and continues after the answer."""

    async def answer(_: web.Request) -> web.Response:
        await settle(100)
        return web.Response()

    async with listening(answer, seen, LONG) as listener:
        start = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 16000000\r\n\r\n"
        told = await told_by(listener, start, *[b"a" * 4_000_000] * 4, gap_s=0)

    assert (told.statuses, told.reset) == ([200], False)


async def test_a_refused_caller_sees_the_close_at_once(seen):
    """We wait for the rest that it sends, but the caller does not."""
    seen.body_within_s = 0.3
    async with listening(seen.answer, seen, replace(SHORT, linger_s=3600)) as listener:
        bad = await told_by(listener, b"BAD\r\n\r\n")
        late = await told_by(listener, POST + HOST + b"Content-Length: 5\r\n\r\n")

    assert (bad.closed, late.closed) == (True, True)


async def test_a_partial_second_request_in_the_same_segment_is_closed(listener):
    """Aiohttp already has its beginning: the connection counts as idle until more arrives."""
    told = await told_by(listener, b"GET / HTTP/1.1\r\n" + HOST + END + b"GET / HT")

    assert (told.statuses, told.closed) == ([200], True)


@pytest.mark.parametrize(
    "portions",
    [
        (b"GET / HTTP/1.1\r\n" + HOST + END, END),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n", b"hel", b"lo"),
        (CHUNKED, b"5\r\nhello\r\n", b"0\r\n\r\n"),
    ],
    ids=["blank line", "body", "chunks"],
)
async def test_a_blank_line_or_a_read_body_begins_no_request(listener, portions):
    """Served, then closed as idle, without a second answer."""
    told = await told_by(listener, *portions)

    assert (told.statuses, told.closed) == ([200], True)


async def test_a_compressed_body_is_passed_on_unchanged(listener, seen):
    """Decompressing could turn a few bytes into gigabytes."""
    start = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"

    await told_by(listener, start + b"hello")

    assert seen.requests == [("/", b"hello")]


async def test_a_caller_that_sends_no_body_after_100_continue_is_refused(seen):
    """The interim answer does not count: the final one follows."""
    start = b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"

    seen.body_within_s = 0.3
    async with brief(seen) as listener:
        told = await told_by(listener, start)

    assert told.statuses == [100, 408]


async def test_a_caller_that_awaits_continue_gets_100(listener, seen):
    start = b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"

    told = await told_by(listener, start, b"hello")

    assert told.statuses == [100, 200]
    assert seen.requests == [("/", b"hello")]


async def test_a_refused_caller_gets_no_100(listener, seen):
    """The withheld body is not awaited, so the next bytes cannot be taken for it."""
    start = (
        b"POST /unread HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    )

    told = await told_by(listener, start, NEXT)

    assert told.statuses == [200]
    assert [path for path, _ in seen.requests] == ["/unread"]
    assert told.closed


def is_ours(told: Exchange) -> bool:
    """Every refusal below the application has one shape, and shows nothing of the request."""
    (answer,) = told.answers
    trace_id = answer.headers["x-trace-id"]
    return (
        answer.body.endswith(f'"trace_id":"{trace_id}"}}'.encode())
        and answer.headers["content-type"] == "application/json; charset=utf-8"
        and answer.headers["cache-control"] == "no-store"
        and answer.headers["connection"] == "close"
        and answer.headers["server"] == "pixgate"
        and MARK not in told.raw
        and told.closed
    )
