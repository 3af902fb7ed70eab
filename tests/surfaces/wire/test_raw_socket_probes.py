"""Probes over raw sockets: whatever the bytes, one answer of ours, nothing echoed, still alive."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from gateway.net.server.listener import Listener
from gateway.net.server.reply import Reply
from gateway.net.server.request import Request
from tests.surfaces.wire.probes import ACCEPTED, CHUNKED, END, GET, MARK, NEXT, POST, PROBES
from tests.world.raw_http import HOST, Exchange, ask, exchange
from tests.world.wired import SHORT, Seen, listening


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
async def listener(seen: Seen) -> AsyncIterator[Listener]:
    async with listening(seen.answer, seen) as listener:
        yield listener


@pytest.mark.parametrize(
    "probe",
    PROBES,
    ids=lambda probe: probe.name,
)
async def test_a_bad_request_gets_one_answer_of_ours(listener, seen, caplog, probe):
    """Step 1 of the order of checks: our body, a trace id, nothing echoed or logged, and closed."""
    caplog.set_level(logging.DEBUG)

    told = await exchange(listener.port, *probe.portions)

    assert [(answer.status, answer.code) for answer in told.answers] == [(probe.status, probe.code)]
    assert_it_is_ours(told)
    assert MARK.decode() not in caplog.text
    assert seen.requests == []
    assert seen.refusals == [(probe.code, told.answers[0].headers["x-trace-id"])]
    assert (await ask(listener.port)).status == 200


@pytest.mark.parametrize(("sent", "path", "body"), ACCEPTED)
async def test_an_unusual_but_sound_request_is_served(listener, seen, sent, path, body):
    """Strictness refuses what two readers would read differently, and nothing else."""
    told = await exchange(listener.port, sent, patience_s=0.1)

    assert told.statuses == [200]
    assert seen.requests == [(path, body)]


async def test_pipelined_requests_are_answered_in_order(listener, seen):
    """One mixed with a refusal of the application: 200, 401, 200."""
    requests = b"".join(
        b"GET /" + path + b" HTTP/1.1\r\n" + HOST + END for path in (b"1", b"401", b"3")
    )

    told = await exchange(listener.port, requests, patience_s=0.1)

    assert told.statuses == [200, 401, 200]
    assert [path for path, _ in seen.requests] == ["/1", "/401", "/3"]


async def test_a_bad_request_behind_a_good_one_is_refused_in_its_turn(listener, seen):
    """The good one keeps its answer when the bad one comes while it is worked on."""
    good = b"GET /held HTTP/1.1\r\n" + HOST + END
    bad = b"GET / HTTP/9.9\r\n" + HOST + END + NEXT
    asyncio.get_running_loop().call_later(0.2, seen.gate.set)

    told = await exchange(listener.port, good, bad)

    assert told.statuses == [200, 400]
    assert [path for path, _ in seen.requests] == ["/held"]
    assert told.closed


async def test_a_hundred_portions_make_one_request(listener, seen):
    """A request that comes byte by byte, but in time, is served."""
    request = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello"
    portions = [request[at : at + 1] for at in range(len(request))]

    told = await exchange(listener.port, *portions, gap_s=0.001, patience_s=0.1)

    assert told.statuses == [200]
    assert seen.requests == [("/", b"hello")]


async def test_a_dripping_caller_is_cut_off_at_the_deadline(listener, seen):
    """Slowloris: bytes do not move the header deadline."""
    portions = [GET + HOST + b"X-A: ", *[b"a"] * 100]

    told = await exchange(listener.port, *portions, gap_s=0.01)

    assert told.statuses == [408]
    assert seen.requests == []


async def test_a_silent_caller_is_hung_up_on_without_an_answer(listener):
    """Not a byte came: there is no request to answer."""
    told = await exchange(listener.port)

    assert (told.raw, told.closed) == (b"", True)
    assert told.seconds < 10


async def test_an_idle_kept_connection_is_closed_without_an_answer(listener):
    """Keep-alive ends quietly; only a request that was begun is answered."""
    told = await exchange(listener.port, b"GET / HTTP/1.1\r\n" + HOST + END)

    assert (told.statuses, told.closed) == ([200], True)
    assert told.seconds == pytest.approx(0.6, abs=0.3)


async def test_a_second_request_begun_and_not_finished_is_refused(listener):
    """The deadline of a later request runs from its first byte."""
    told = await exchange(listener.port, b"GET / HTTP/1.1\r\n" + HOST + END, b"GET / HT")

    assert told.statuses == [200, 408]
    assert told.closed


async def test_an_unread_body_is_never_a_request(listener, seen):
    """Answered before the body came: closed, and what comes is thrown away."""
    start = b"POST /unread HTTP/1.1\r\n" + HOST
    length = b"Content-Length: %d\r\n\r\n" % len(NEXT)

    told = await exchange(listener.port, start + length, NEXT, NEXT)

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
    """Megabytes on their way when we refuse must not cost the caller the answer."""
    told = await exchange(listener.port, start, *[b"a" * 500_000] * 8, gap_s=0.005)

    assert len(told.answers) == 1
    assert not told.reset


async def test_a_body_nobody_read_is_thrown_away(seen):
    """Reading had paused, for the body filled our buffer; it goes on behind the answer."""

    async def answer(request: Request) -> Reply:
        await asyncio.sleep(0.1)
        return Reply()

    async with listening(answer, seen) as listener:
        start = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 16000000\r\n\r\n"
        told = await exchange(listener.port, start, *[b"a" * 4_000_000] * 4, gap_s=0)

    assert (told.statuses, told.reset) == ([200], False)


async def test_a_refused_caller_is_told_at_once_that_no_more_comes(seen):
    """The wait for what it still sends is ours, not its own."""
    async with listening(seen.answer, seen, replace(SHORT, linger_s=20.0)) as listener:
        bad = await exchange(listener.port, b"BAD\r\n\r\n")
        late = await exchange(listener.port, POST + HOST + b"Content-Length: 5\r\n\r\n")

    assert (bad.closed, late.closed) == (True, True)
    assert bad.seconds < 10
    assert late.seconds < 10


async def test_a_second_request_begun_in_the_first_one_s_segment_is_refused(listener):
    told = await exchange(listener.port, b"GET / HTTP/1.1\r\n" + HOST + END + b"GET / HT")

    assert told.statuses == [200, 408]


@pytest.mark.parametrize(
    "portions",
    [
        (b"GET / HTTP/1.1\r\n" + HOST + END, END),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\n", b"hel", b"lo"),
        (CHUNKED, b"5\r\nhello\r\n", b"0\r\n\r\n"),
    ],
    ids=["blank line", "body", "chunks"],
)
async def test_neither_a_blank_line_nor_a_body_begins_a_request(listener, portions):
    """Served, then closed as idle, without a second answer."""
    told = await exchange(listener.port, *portions)

    assert (told.statuses, told.closed) == ([200], True)


async def test_a_coded_body_is_handed_up_as_it_came(listener, seen):
    """Undoing the coding is how a few bytes become gigabytes."""
    start = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n"

    await exchange(listener.port, start + b"hello", patience_s=0.1)

    assert seen.requests == [("/", b"hello")]


async def test_a_caller_that_was_told_to_go_on_and_does_not_is_refused(listener):
    """The interim answer is none: the real one still comes."""
    start = b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"

    told = await exchange(listener.port, start)

    assert told.statuses == [100, 408]


async def test_a_caller_that_awaits_continue_is_told_to_go_on(listener, seen):
    start = b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"

    told = await exchange(listener.port, start, b"hello", patience_s=0.1)

    assert told.statuses == [100, 200]
    assert seen.requests == [("/", b"hello")]


async def test_a_refused_caller_is_not_told_to_go_on(listener, seen):
    """The body it held back is not awaited, so its next bytes cannot be taken for it."""
    start = (
        b"POST /unread HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    )

    told = await exchange(listener.port, start, NEXT)

    assert told.statuses == [200]
    assert [path for path, _ in seen.requests] == ["/unread"]
    assert told.closed


def assert_it_is_ours(told: Exchange) -> None:
    """Every refusal below the application has one shape, and shows nothing of the request."""
    (answer,) = told.answers
    trace_id = answer.headers["x-trace-id"]
    assert answer.body.endswith(f'"trace_id":"{trace_id}"}}'.encode())
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["connection"] == "close"
    assert "server" not in answer.headers
    assert MARK not in told.raw
    assert told.closed
