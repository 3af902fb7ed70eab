"""One caller's connection. What it does with bytes is in the probes of ``tests/surfaces/wire``."""

import asyncio
import gc
import logging
from contextvars import ContextVar
from dataclasses import replace

import pytest
from aiohttp import http_parser, streams, tcp_helpers, web_protocol
from aiohttp.base_protocol import BaseProtocol

from gateway.net.server import connection
from gateway.net.server.connection import Connection
from gateway.net.server.http_server import HttpServer
from gateway.net.server.listener import Listener
from gateway.net.server.reply import Refusals, Reply, Written
from gateway.net.server.request import Request
from tests.world.raw_http import HOST, ask, exchange, until_closed
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT, listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
HELD = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"

PROTOCOL_PARTS = [
    "_buffer_paused",
    "_drain_helper",
    "_loop",
    "_parser",
    "_paused",
    "_pause_reading_for_buffer",
    "_reading_paused",
    "_resume_reading_for_buffer",
    "_resume_transport_reading",
]


async def test_aiohttp_still_has_its_inner_parts():
    """Pinned to 3.14: a release that moves one of these must not pass unnoticed."""
    parts = [
        (BaseProtocol(asyncio.get_running_loop()), PROTOCOL_PARTS),
        (http_parser.HttpRequestParser, ["feed_data", "message_consumed", "set_upgraded"]),
        (http_parser.RawRequestMessage, ["_replace"]),
        (streams, ["EMPTY_PAYLOAD"]),
        (tcp_helpers, ["tcp_keepalive"]),
        (web_protocol, ["RequestPayloadError"]),
    ]

    assert [name for owner, names in parts for name in names if not hasattr(owner, name)] == []


async def test_an_answer_that_needs_no_waiting_has_no_task(seen):
    """Nothing but the answer happens between two reads."""
    tasks = []

    def answer(request: Request) -> Reply:
        tasks.append(asyncio.current_task())
        return Reply(body=b"here")

    async with listening(answer, seen, PATIENT) as listener:
        told = await exchange(listener.port, GET + GET, answers=2)

    assert [each.body for each in told.answers] == [b"here", b"here"]
    assert tasks == [None, None]


async def test_who_asks_for_the_same_again_is_answered_again(seen):
    """Its head is not checked anew, and all else is done as for any other."""
    asked = []

    def answer(request: Request) -> Reply:
        asked.append(request.path)
        return Reply(body=str(len(asked)).encode())

    async with listening(answer, seen, PATIENT) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        told = []
        for data in (GET, GET, GET.replace(b"/ ", b"/other "), GET, GET):
            writer.write(data)
            await reader.readuntil(b"\r\n\r\n")
            told.append(await reader.readexactly(1))
        writer.close()

    assert asked == ["/", "/", "/other", "/", "/"]
    assert told == [b"1", b"2", b"3", b"4", b"5"]


async def test_each_request_has_a_context_of_its_own(seen):
    """What one request has set, no other finds, waited for or not."""
    found = []
    of_request = ContextVar("of_request", default="nothing")

    async def wait() -> Reply:
        found.append(of_request.get())
        await asyncio.sleep(0)
        return Reply()

    def answer(request: Request) -> object:
        found.append(of_request.get())
        of_request.set(request.path)
        return wait() if request.path == "/wait" else Reply()

    get, wait_get = GET, GET.replace(b"GET / ", b"GET /wait ")
    async with listening(answer, seen, PATIENT) as listener:
        await exchange(listener.port, get + wait_get + wait_get + get, answers=4)

    assert found == ["nothing", "nothing", "/wait", "nothing", "/wait", "nothing"]


async def test_an_answer_behind_one_that_is_waited_for_waits_too(seen):
    """Answers keep the order of their requests."""

    async def wait() -> Reply:
        await settle()
        return Reply(body=b"late")

    def answer(request: Request) -> object:
        return wait() if request.path == "/wait" else Reply(body=b"soon")

    async with listening(answer, seen, PATIENT) as listener:
        told = await exchange(listener.port, GET.replace(b"/ ", b"/wait ") + GET, answers=2)

    assert [each.body for each in told.answers] == [b"late", b"soon"]


@pytest.mark.parametrize("path", ["/broken", "/broken-later"])
async def test_an_unhandled_error_is_answered_and_its_place_logged(seen, caplog, path):
    """The error's words quote the caller: they stand neither in the answer nor in the log."""

    async def later(request: Request) -> object:
        return seen.answer(request)

    def answer(request: Request) -> object:
        request.path, was = "/broken", request.path
        return later(request) if was == "/broken-later" else seen.answer(request)

    async with listening(answer, seen, PATIENT) as listener:
        told = await ask(listener.port, path, more=b"X-Secret: gws_1\r\nX-Trace-ID: mine\r\n")

    assert (told.status, told.code, told.headers["x-trace-id"]) == (500, "SVC.SYS.001", "mine")
    assert "LookupError at " in caplog.text
    assert "trace id mine" in caplog.text
    assert "gws_1" not in caplog.text + told.body.decode()
    assert seen.refusals == [("SVC.SYS.001", "mine")]


async def test_a_timeout_of_our_own_is_no_timeout_of_the_caller(seen):
    """A bank that is late must not be answered as 408 or 504."""

    async def answer() -> Reply:
        raise TimeoutError

    async with listening(lambda _request: answer(), seen, PATIENT) as listener:
        told = await ask(listener.port)

    assert (told.status, told.code) == (500, "SVC.SYS.001")


async def test_an_error_keeps_the_caller_s_trace_id(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        answer = await ask(listener.port, "/broken", more=b"X-Trace-ID: order-1042\r\n")

    assert answer.headers["x-trace-id"] == "order-1042"
    assert seen.refusals == [("SVC.SYS.001", "order-1042")]


async def test_every_answer_has_a_trace_id_and_no_banner(seen):
    """The application's trace id wins over the caller's."""
    more = b"X-Trace-ID: order-1042\r\n"
    async with listening(lambda _request: Reply(), seen, PATIENT) as listener:
        callers = await ask(listener.port, more=more)
    async with listening(seen.answer, seen, PATIENT) as listener:
        ours = await ask(listener.port, more=more)

    assert callers.headers["x-trace-id"] == "order-1042"
    assert ours.headers["x-trace-id"] == "of-the-application"
    assert "server" not in {**callers.headers, **ours.headers}


async def hang_up(listener: Listener, data: bytes) -> None:
    """Send a request, and hang up while it is worked on."""
    _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(data)
    await until(lambda: listener.server.in_flight)
    writer.close()
    await until(lambda: not listener.server.open_connections)


async def test_a_caller_that_hangs_up_is_no_error(seen, caplog):
    caplog.set_level(logging.INFO)

    async with listening(seen.answer, seen, PATIENT) as listener:
        await hang_up(listener, HELD)
        seen.gate.set()
        await until(lambda: not listener.server.in_flight)

    assert seen.requests == [("/held", b"")]
    assert [each for each in caplog.records if each.name == "gateway.net.server"] == []


async def test_an_answer_written_by_its_handler_may_keep_the_connection(seen):
    """A fail point writes an answer in two halves."""

    async def write(request: Request) -> Written:
        request.connection.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        return Written(keeps=request.path == "/kept")

    kept = b"GET /kept HTTP/1.1\r\n" + HOST + b"\r\n"
    async with listening(write, seen, PATIENT) as listener:
        told = await until_closed(listener.port, kept + GET + GET)

    assert (told.statuses, told.closed) == ([204, 204], True)


async def test_an_expectation_that_nobody_meets_is_ignored(seen):
    """Aiohttp's own 417 would be no answer of ours."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        answer = await ask(listener.port, more=b"Expect: a-miracle\r\n")

    assert answer.status == 200


async def test_an_answer_that_cannot_be_written_is_an_error(seen, caplog):
    """A line end in a header of ours must not leave the caller without an answer."""

    def answer(request: Request) -> Reply:
        return Reply(headers={"X-A": "1\r\nX-B: gws_2"})

    async with listening(answer, seen, PATIENT) as listener:
        told = await ask(listener.port)

    assert (told.status, told.code) == (500, "SVC.SYS.001")
    assert "gws_2" not in caplog.text


async def test_a_caller_that_hangs_up_stops_no_work(seen):
    """A payout that was begun is carried through."""
    done = []

    async def work() -> Reply:
        await seen.gate.wait()
        done.append(1)
        return Reply()

    async with listening(lambda _request: work(), seen, PATIENT) as listener:
        await hang_up(listener, GET)
        seen.gate.set()
        await until(lambda: done)


async def test_a_fault_of_the_parser_ends_in_an_answer(seen, monkeypatch):
    """Whatever reading raises: the caller is told, and the process goes on."""

    class Broken:
        def feed_data(self, data: bytes) -> None:
            message = "gws_4"
            raise LookupError(message)

        def message_consumed(self) -> None:
            """Nothing to consume."""

    async with listening(seen.answer, seen, PATIENT) as listener:
        with monkeypatch.context() as patched:
            patched.setattr(connection, "make_parser", lambda *_: Broken())
            told = await until_closed(listener.port, GET)
        after = await ask(listener.port)

    assert [(each.status, each.code) for each in told.answers] == [(400, "SVC.VAL.011")]
    assert after.status == 200


async def test_nothing_is_left_of_a_connection(seen):
    """Counters and aiohttp's own list go back to nothing, however it ended."""
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
        server = listener.server
        await until(lambda: not server.open_connections)

        assert (server.in_flight, server.connections, dict(server._by_place)) == (0, set(), {})


async def test_nothing_of_a_connection_waits_for_the_garbage_collector(seen):
    """What holds each other is let go of: callers come and go by the thousand."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        gc.collect()
        gc.disable()
        try:
            await ask(listener.port, "/")
            await ask(listener.port, "/broken")
            await hang_up(listener, HELD)
            seen.gate.set()
            await until(lambda: not (listener.server.in_flight or connections(listener)))
        finally:
            gc.enable()


def connections(listener: Listener) -> list[Connection]:
    """Find those that still exist, open or not."""
    made = [each for each in gc.get_objects() if isinstance(each, Connection)]
    return [each for each in made if each.server is listener.server]


async def test_a_connection_has_no_dictionary_of_its_own(seen):
    """Ten thousand of them are kept: each attribute has its slot."""
    server = HttpServer(seen.answer, PATIENT, Refusals())

    made = server()

    assert isinstance(made, Connection)
    assert not hasattr(made, "__dict__")
