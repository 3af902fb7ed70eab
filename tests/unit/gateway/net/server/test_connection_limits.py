"""How long a connection waits for its caller, and how much it keeps for it."""

import asyncio
from dataclasses import replace

from gateway.net.server.listener import Listener
from gateway.net.server.peer import ServerLimits
from gateway.net.server.reply import Reply
from gateway.net.server.request import Request
from tests.unit.gateway.net.server import pairs
from tests.world.raw_http import HOST, exchange, until_closed
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT, listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HELD = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"
LIMITS = ServerLimits(header_deadline_s=10.0, keepalive_s=15.0)


async def test_a_caller_that_does_not_read_is_let_go(seen):
    """What it does not take would fill our memory for ever."""
    made = []

    def answer(request: Request) -> Reply:
        made.append(request.path)
        return Reply(body=b"a" * 30_000_000)

    async with listening(answer, seen, replace(PATIENT, answer_deadline_s=0.05)) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(GET)
        await until(lambda: made)
        await until(lambda: not listener.server.open_connections)
        writer.transport.abort()


async def test_a_caller_that_reads_slowly_is_answered_in_its_time(seen):
    """The second answer is not made before the first one is taken."""
    made = []

    def answer(request: Request) -> Reply:
        made.append(request.path)
        return Reply(body=b"a" * 8_000_000)

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


def test_each_request_starts_the_keep_alive_timer_anew():
    assert statuses(GET, GET, GET, b"", gap_s=14.0) == [200, 200, 200]
    assert statuses(GET, GET, gap_s=16.0) == [200]


def test_a_request_begun_is_not_closed_as_idle():
    """The idle time ends in the middle of a request that is in time."""
    assert statuses(GET, GET[:20], GET[20:], gap_s=9.0) == [200, 200]
    assert statuses(GET, b"", GET[:20], GET[20:], gap_s=7.0) == [200, 200]


def test_a_slow_answer_does_not_make_the_next_caller_late():
    """Half a request behind one that is worked on is refused in its turn, not before."""
    assert statuses(HELD, GET[:20], gap_s=0.1, held_s=30) == [200, 408]


def test_what_we_do_not_read_is_not_late():
    """Forty requests at once: reading pauses at four, and the half one waits with us."""
    told = statuses(HELD + GET * 40 + GET[:20], GET[20:], gap_s=35, held_s=30)

    assert told == [200] * 42


def test_many_requests_at_once_leave_the_connection_idle():
    """Reading had stopped for want of room; nothing is awaited when all are answered."""
    assert statuses(GET * 40, GET, gap_s=12) == [200] * 41


def statuses(*portions: bytes, gap_s: float, held_s: float = 0.0) -> list[int]:
    return pairs.held_exchange(LIMITS, *portions, gap_s=gap_s, held_s=held_s)


def head(size: int, path: bytes = b"/held") -> bytes:
    """Write a head of so many bytes in 60 headers, the last of which is filled up."""
    start = b"GET " + path + b" HTTP/1.1\r\n" + HOST
    lines = [b"X-%02d: " % number + b"a" * ((size - len(start)) // 60 - 8) for number in range(60)]
    whole = start + b"\r\n".join(lines) + b"\r\n\r\n"
    return whole[:-4] + b"a" * (size - len(whole)) + b"\r\n\r\n"


async def test_a_head_of_32_kib_is_taken_and_a_larger_one_is_not(seen):
    """However it comes; the one before it is answered all the same."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        largest = await exchange(listener.port, head(32 * 1024, b"/"), answers=1)
        larger = await until_closed(listener.port, GET + head(32 * 1024 + 1, b"/"))
        pieces = [head(40 * 1024, b"/")[at : at + 9000] for at in range(0, 36_000, 9000)]
        endless = await until_closed(listener.port, *pieces)

    assert largest.statuses == [200]
    assert [(each.status, each.code) for each in larger.answers][1:] == [(431, "SVC.GTW.007")]
    assert [(each.status, each.code) for each in endless.answers] == [(431, "SVC.GTW.007")]
    assert larger.answers[1].headers["x-trace-id"]


def is_full(listener: Listener) -> bool:
    """Do three callers wait until we read on?"""
    paused = [not each.transport.is_reading() for each in listener.server.connections]
    return paused == [True] * 3


async def test_who_takes_no_answers_makes_us_keep_little(seen):
    """Forty heads of 31 KiB at each connection: one is served, three wait, and no more is read."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        asking = [
            asyncio.create_task(exchange(listener.port, head(31 * 1024) * 40, answers=40))
            for _ in range(3)
        ]
        await until(lambda: is_full(listener))
        kept = [len(each._queue.waiting) for each in listener.server.connections]
        reads = [each.transport.is_reading() for each in listener.server.connections]
        seen.gate.set()
        told = await asyncio.gather(*asking)

    assert kept == [3] * 3
    assert reads == [False] * 3
    assert [each.statuses for each in told] == [[200] * 40] * 3


async def test_many_requests_at_once_let_others_have_their_turn(seen):
    """One caller that sends hundreds in one go must not stop the process for all of them."""
    order = []

    def answer(request: Request) -> Reply:
        order.append(request.path)
        return Reply()

    async with listening(answer, seen, PATIENT) as listener:
        crowd = asyncio.create_task(exchange(listener.port, GET * 500, answers=500))
        while not order:
            order_before = len(order)
            await asyncio.sleep(0)
        at_once = len(order) - order_before
        told = await crowd

    assert told.statuses == [200] * 500
    assert at_once <= 2 * 4
