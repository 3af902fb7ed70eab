"""One caller's connection. What it does with bytes is in the probes of ``tests/surfaces/wire``."""

import asyncio
import logging
from contextvars import ContextVar
from dataclasses import replace

from aiohttp import web

from gateway.net.server.listener import Listener
from tests.world.raw_http import HOST, ask, exchange, split, until_closed
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT, listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HELD = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"


async def test_each_request_has_its_own_context(seen):
    """Values set by one request are not visible in another."""
    found = []
    of_request = ContextVar("of_request", default="nothing")

    async def answer(request: web.Request) -> web.Response:
        found.append(of_request.get())
        of_request.set(request.path)
        return web.Response()

    async with listening(answer, seen, PATIENT) as listener:
        await exchange(listener.port, GET * 3, answers=3)

    assert found == ["nothing"] * 3


async def test_an_unhandled_error_is_answered_without_its_text(seen, caplog):
    """The text quotes the caller: it is neither in the answer nor in the log."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        told = await ask(listener.port, "/broken", more=b"X-Secret: gws_1\r\n")

    assert (told.status, told.code) == (500, "SVC.SYS.001")
    assert "gws_1" not in caplog.text + told.body.decode()
    assert seen.refusals == [("SVC.SYS.001", told.headers["x-trace-id"])]


async def test_an_oversized_header_is_not_logged(seen, caplog):
    """Aiohttp's own line would quote it, including ``Authorization``."""
    caplog.set_level(logging.DEBUG)
    secret = b"Authorization: Basic " + b"gws_" * 3000 + b"\r\n"

    async with listening(seen.answer, seen, PATIENT) as listener:
        told = await ask(listener.port, more=secret)

    assert (told.status, told.code) == (431, "SVC.GTW.007")
    assert "gws_" not in caplog.text + told.body.decode()


async def test_a_timeout_in_the_handler_is_a_500(seen):
    """A late bank must not be answered as 408 or 504."""

    async def answer(_: web.Request) -> web.Response:
        raise TimeoutError

    async with listening(answer, seen, PATIENT) as listener:
        told = await ask(listener.port)

    assert (told.status, told.code) == (500, "SVC.SYS.001")


async def hang_up(listener: Listener, data: bytes) -> None:
    """Send a request, and hang up while it is worked on."""
    _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(data)
    await until(lambda: listener.connections.in_flight)
    writer.transport.abort()


async def test_a_disconnecting_caller_is_not_logged_as_an_error(seen, caplog):
    caplog.set_level(logging.INFO)

    async with listening(seen.answer, seen, PATIENT) as listener:
        await hang_up(listener, HELD)
        seen.gate.set()
        await until(lambda: not listener.connections.in_flight)

    assert seen.requests == [("/held", b"")]
    assert [each for each in caplog.records if each.name == "gateway.net.server"] == []


async def test_an_unknown_expectation_is_ignored(seen):
    """Aiohttp's own 417 would not be our error."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        answer = await ask(listener.port, more=b"Expect: a-miracle\r\n")

    assert answer.status == 200


async def test_an_answer_that_cannot_be_written_is_an_error(seen, caplog):
    """An invalid header of ours must not leave the caller without an answer."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(headers={"X-A": "1\r\nX-B: gws_2"})

    async with listening(answer, seen, PATIENT) as listener:
        told = await ask(listener.port)

    assert (told.status, told.code) == (500, "SVC.SYS.001")
    assert "gws_2" not in caplog.text


async def test_a_disconnecting_caller_does_not_cancel_the_handler(seen):
    """A payout in progress is completed."""
    done = []

    async def work(_: web.Request) -> web.Response:
        await seen.gate.wait()
        done.append(1)
        return web.Response()

    async with listening(work, seen, PATIENT) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(GET)
        await until(lambda: listener.connections.in_flight)
        writer.transport.abort()
        await settle()
        seen.gate.set()
        await until(lambda: done)


async def test_a_caller_that_closed_its_sending_side_gets_its_answer(seen):
    """Only its half is closed, not ours."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(HELD)
        writer.write_eof()
        await until(lambda: listener.connections.in_flight)
        seen.gate.set()
        told = split(await reader.read())
        writer.close()

    assert [(each.status, each.headers["connection"]) for each in told] == [(200, "close")]


async def test_an_unfinished_request_of_a_disconnected_caller_is_dropped(seen):
    """The rest of its body cannot arrive any more."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhe")
        await until(lambda: listener.connections.in_flight)
        writer.write_eof()
        await until(lambda: not listener.connections.open_connections)
        writer.close()

    assert seen.requests == []


async def test_an_upgrade_request_is_answered_and_the_connection_closed(seen):
    """Aiohttp would read the following bytes as that protocol, and others as HTTP."""
    upgrade = GET[:-2] + b"Connection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    async with listening(seen.answer, seen, PATIENT) as listener:
        told = await until_closed(listener.port, upgrade + GET)

    assert (told.statuses, told.closed) == ([200], True)


async def test_a_closed_connection_leaves_no_counters(seen):
    """Counters and aiohttp's own list are empty afterwards, however it ended."""
    limits = replace(PATIENT, header_deadline_s=0.05, keepalive_s=0.05)
    async with listening(seen.answer, seen, limits) as listener:
        for sent in (
            GET,
            b"BAD\r\n\r\n",
            GET[:10],
            b"",
            b"GET /broken HTTP/1.1\r\n" + HOST + b"\r\n",
        ):
            await until_closed(listener.port, sent)
        server = listener.connections
        await until(lambda: not server.open_connections)

        assert (server.in_flight, dict(server._by_place)) == (0, {})
