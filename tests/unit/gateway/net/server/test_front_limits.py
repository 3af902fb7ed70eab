"""How long a connection waits for its caller, and how much it keeps for it."""

import asyncio
import tracemalloc
from contextlib import AsyncExitStack
from dataclasses import replace

import uvloop
from aiohttp import web

from gateway.net.server.peer import ServerLimits
from tests.unit.gateway.net.server import pairs
from tests.world.raw_http import HOST, exchange, split, until_closed
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT, listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HELD = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"
LIMITS = ServerLimits(header_deadline_s=10.0, keepalive_s=15.0)


async def test_a_caller_that_does_not_read_its_answer_is_disconnected(seen):
    """Its unread answer would occupy memory for ever."""
    made = []

    async def answer(request: web.Request) -> web.Response:
        made.append(request.path)
        return web.Response(body=b"a" * 30_000_000)

    async with listening(answer, seen, replace(PATIENT, answer_deadline_s=0.05)) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(GET)
        await until(lambda: made)
        await until(lambda: not listener.connections.open_connections)
        writer.transport.abort()


def test_callers_that_do_not_read_share_one_copy_of_a_document(seen):
    """A copy for each, in our memory or the kernel's, would let a few hundred fill it."""
    size = 4_000_000
    document = b"a" * size
    made = []

    async def answer(request: web.Request) -> web.Response:
        made.append(request.path)
        return web.Response(body=document)

    async def ask() -> tuple[int, list[int]]:
        async with AsyncExitStack() as stack:
            listener = await stack.enter_async_context(listening(answer, seen, PATIENT))
            tracemalloc.start()
            stack.callback(tracemalloc.stop)
            for _ in range(20):
                _, writer = await asyncio.open_connection("127.0.0.1", listener.port, limit=1024)
                stack.callback(lambda writer=writer: writer.transport.abort())
                writer.transport.pause_reading()
                writer.write(GET * 8)
            await until(lambda: len(made) == 20)
            await settle()
            fronts = listener.connections._open
            unsent = [front._transport.get_write_buffer_size() for front in fronts]
            return tracemalloc.get_traced_memory()[1], unsent

    # On the loop that serves: asyncio's own copies what it cannot send at once.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        most, unsent = runner.run(ask())

    assert most < size
    assert len(unsent) == 20
    assert min(unsent) > size - 1_000_000


async def test_the_next_request_is_handled_after_the_answer_was_read(seen):
    """The second answer is not made before the first one is read."""
    made = []

    async def answer(request: web.Request) -> web.Response:
        made.append(request.path)
        return web.Response(body=b"a" * 8_000_000)

    async with listening(answer, seen, PATIENT) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(GET + GET)
        await until(lambda: made)
        await settle()
        before = len(made)
        taken = 0
        while taken < 16_000_000:
            taken += len(await reader.read(1_000_000))
        writer.close()

    assert (before, len(made)) == (1, 2)


def test_each_request_restarts_the_keep_alive_timer():
    assert statuses(GET, GET, GET, b"", gap_s=14.0) == [200, 200, 200]
    assert statuses(GET, GET, gap_s=16.0) == [200]


def test_a_started_request_is_not_closed_as_idle():
    """The idle timeout would end during a request that is in time."""
    assert statuses(GET, GET[:20], GET[20:], gap_s=9.0) == [200, 200]
    assert statuses(GET, b"", GET[:20], GET[20:], gap_s=7.0) == [200, 200]


def test_the_header_deadline_of_a_next_request_starts_after_the_answer():
    """Half a request behind a running one is refused in its turn, not before."""
    assert statuses(HELD, GET[:20], gap_s=0.1, held_s=30) == [200, 408]


def test_after_many_pipelined_requests_a_connection_is_idle():
    """Reading was paused by a full buffer; after all answers nothing is awaited."""
    assert statuses(GET * 40, GET, gap_s=12) == [200] * 41


def statuses(*portions: bytes, gap_s: float, held_s: float = 0.0) -> list[int]:
    return pairs.held_exchange(LIMITS, *portions, gap_s=gap_s, held_s=held_s)


def head(size: int, path: bytes = b"/held") -> bytes:
    """Write a head of so many bytes in 60 headers, the last of which is filled up."""
    start = b"GET " + path + b" HTTP/1.1\r\n" + HOST
    lines = [b"X-%02d: " % number + b"a" * ((size - len(start)) // 60 - 8) for number in range(60)]
    whole = start + b"\r\n".join(lines) + b"\r\n\r\n"
    return whole[:-4] + b"a" * (size - len(whole)) + b"\r\n\r\n"


async def test_a_head_of_32_kib_is_accepted_and_a_larger_one_refused(seen):
    """In any segmentation; the request before it is still answered."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        largest = await exchange(listener.port, head(32 * 1024, b"/"), answers=1)
        larger = await until_closed(listener.port, GET + head(32 * 1024 + 1, b"/"))
        pieces = [head(40 * 1024, b"/")[at : at + 9000] for at in range(0, 36_000, 9000)]
        endless = await until_closed(listener.port, *pieces)

    assert largest.statuses == [200]
    assert [(each.status, each.code) for each in larger.answers][1:] == [(431, "SVC.GTW.007")]
    assert [(each.status, each.code) for each in endless.answers] == [(431, "SVC.GTW.007")]
    assert larger.answers[1].headers["x-trace-id"]


async def test_pipelined_requests_are_not_handled_before_answers_are_read(seen):
    """A hundred requests at once: the second answer is not made before the first is read."""
    made = []

    async def answer(request: web.Request) -> web.Response:
        made.append(request.path)
        return web.Response(body=b"a" * 8_000_000)

    limits = replace(PATIENT, answer_deadline_s=0.2)
    async with listening(answer, seen, limits) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(GET * 100)
        await until(lambda: made)
        await until(lambda: not listener.connections.open_connections)
        writer.transport.abort()

    assert len(made) == 1


async def test_the_refusal_of_a_too_large_head_does_not_overtake_an_answer(seen):
    """Otherwise the caller would take the refusal for the answer to an earlier request."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(HELD)
        await until(lambda: seen.requests)
        writer.write(head(40 * 1024))
        await until(lambda: [each for each in listener.connections._open if each._discards])
        seen.gate.set()
        told = split(await reader.read())
        writer.close()

    assert [(each.status, each.headers["connection"]) for each in told] == [(200, "close")]
