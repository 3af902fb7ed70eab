"""Handlers of aiohttp's own kind behind our connections."""

import asyncio
import inspect
import logging

import pytest
from aiohttp import http_parser, web

from gateway.net.server.web_handler import Direct, WireRequest
from tests.raw_http import HOST, ask, exchange
from tests.wired import listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"


async def test_an_unhandled_error_is_answered_and_its_place_logged(seen, caplog):
    """The error's words quote the caller: they stand neither in the answer nor in the log."""
    async with listening(seen.handle, seen) as listener:
        answer = await ask(listener.port, "/broken", more=b"X-Secret: gws_1\r\n")

    assert (answer.status, answer.code) == (500, "SVC.SYS.001")
    assert "LookupError at " in caplog.text
    assert answer.headers["x-trace-id"] in caplog.text
    assert "gws_1" not in caplog.text + answer.body.decode()


async def test_a_timeout_of_our_own_is_no_timeout_of_the_caller(seen):
    """It would be answered 504 by aiohttp, which is never ours to say."""

    async def handle(request: web.BaseRequest) -> web.Response:
        raise TimeoutError

    async with listening(handle, seen) as listener:
        answer = await ask(listener.port)

    assert (answer.status, answer.code) == (500, "SVC.SYS.001")


async def test_an_error_keeps_the_caller_s_trace_id(seen):
    async with listening(seen.handle, seen) as listener:
        answer = await ask(listener.port, "/broken", more=b"X-Trace-ID: order-1042\r\n")

    assert answer.headers["x-trace-id"] == "order-1042"
    assert seen.refusals == [("SVC.SYS.001", "order-1042")]


@pytest.mark.parametrize("answer", [None, "text"])
async def test_what_is_no_answer_is_an_error(seen, answer):
    async def handle(request: web.BaseRequest) -> object:
        return answer

    async with listening(handle, seen) as listener:
        told = await ask(listener.port)

    assert (told.status, told.code) == (500, "SVC.SYS.001")


async def test_an_answer_that_cannot_be_written_is_an_error(seen, caplog):
    """A line end in a header of ours must not leave the caller without an answer."""

    async def handle(request: web.BaseRequest) -> web.Response:
        return web.Response(headers={"X-A": "1\r\nX-B: gws_2"})

    async with listening(handle, seen) as listener:
        told = await ask(listener.port)

    assert (told.status, told.code) == (500, "SVC.SYS.001")
    assert "gws_2" not in caplog.text


async def test_an_answer_that_breaks_off_is_cut_not_mended(seen):
    """Half an answer is out: a second one behind it would be read as part of the first."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "100"})
        await answer.prepare(request)
        await answer.write(b"half")
        raise LookupError

    async with listening(handle, seen) as listener:
        told = await exchange(listener.port, GET)

    assert told.raw.count(b"HTTP/1.1") == 1
    assert told.raw.endswith(b"half")
    assert told.closed


@pytest.mark.parametrize(
    ("line", "status", "code"),
    [
        (b"GET /nowhere", 404, "SVC.GTW.001"),
        (b"PUT /", 405, "SVC.GTW.002"),
        (b"OPTIONS *", 404, "SVC.GTW.001"),
    ],
)
async def test_errors_of_the_router_have_our_body(seen, line, status, code):
    """Where an application leaves them to aiohttp."""
    app = web.Application()
    app.router.add_get("/", seen.handle)

    async with listening(app, seen) as listener:
        told = await exchange(listener.port, line + b" HTTP/1.1\r\n" + HOST + b"\r\n")

    (answer,) = told.answers
    assert (answer.status, answer.code) == (status, code)
    assert (answer.headers.get("allow") == "GET,HEAD") is (status == 405)


async def test_a_redirect_is_left_alone(seen):
    async def handle(request: web.BaseRequest) -> web.Response:
        raise web.HTTPSeeOther(location="/panel")

    async with listening(handle, seen) as listener:
        answer = await ask(listener.port)

    assert (answer.status, answer.headers["location"]) == (303, "/panel")


async def test_every_answer_has_a_trace_id_and_no_banner(seen):
    """Also one that the application writes itself, piece by piece."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "2"})
        await answer.prepare(request)
        await answer.write(b"ab")
        return answer

    async with listening(handle, seen) as listener:
        answer = await ask(listener.port, more=b"X-Trace-ID: order-1042\r\n")

    assert (answer.status, answer.body) == (200, b"ab")
    assert answer.headers["x-trace-id"] == "order-1042"
    assert "server" not in answer.headers


async def test_the_application_s_own_trace_id_stands(seen):
    async with listening(seen.handle, seen) as listener:
        answer = await ask(listener.port, more=b"X-Trace-ID: order-1042\r\n")

    assert answer.headers["x-trace-id"] == "of-the-application"


async def test_a_caller_that_does_not_read_is_let_go(seen):
    """An answer nobody takes would keep its handler for ever."""

    async def handle(request: web.BaseRequest) -> web.Response:
        return web.Response(body=b"a" * 30_000_000)

    async with listening(handle, seen) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port, limit=1024)
        writer.transport.pause_reading()
        writer.write(GET)
        await until(lambda: listener.server.in_flight == 1)
        await until(lambda: listener.server.in_flight == 0)
        await until(lambda: listener.server.open_connections == 0)
        writer.transport.abort()


async def test_a_failing_hook_of_the_application_is_an_error(seen, caplog):
    """It is not asked about our own answer."""
    app = web.Application()
    app.router.add_get("/", seen.handle)

    async def fail(request: web.Request, response: web.StreamResponse) -> None:
        raise LookupError("gws_3")  # noqa: EM101 - the words that must not be logged

    app.on_response_prepare.append(fail)
    async with listening(app, seen) as listener:
        told = await exchange(listener.port, GET)

    assert [(each.status, each.code) for each in told.answers] == [(500, "SVC.SYS.001")]
    assert "LookupError at " in caplog.text
    assert "gws_3" not in caplog.text


async def test_a_caller_that_hangs_up_is_no_error(seen, caplog):
    caplog.set_level(logging.INFO)

    async with listening(seen.handle, seen) as listener:
        await exchange(listener.port, b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n", patience_s=0.05)
        seen.gate.set()
        await until(lambda: listener.server.in_flight == 0)

    assert seen.requests == [("/held", b"")]
    assert [each for each in caplog.records if each.name == "gateway.net.server"] == []


async def test_the_body_is_read_once_and_kept(seen):
    bodies = []

    async def handle(request: web.BaseRequest) -> web.Response:
        bodies.extend([await request.read(), await request.text()])
        return web.Response()

    async with listening(handle, seen) as listener:
        sent = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello"
        await exchange(listener.port, sent, patience_s=0.1)

    assert bodies == [b"hello", "hello"]


async def test_a_form_is_read_within_the_deadline(seen):
    """The readers of aiohttp go the same way."""

    async def handle(request: web.BaseRequest) -> web.Response:
        await request.post()
        return web.Response()

    form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5\r\n\r\na="
    async with listening(handle, seen) as listener:
        told = await exchange(listener.port, b"POST / HTTP/1.1\r\n" + HOST + form)

    assert [answer.code for answer in told.answers] == ["SVC.GTW.004"]


async def test_a_body_over_the_application_s_own_limit_is_refused(seen):
    app = web.Application(client_max_size=4)
    app.router.add_post("/", seen.handle)

    async with listening(app, seen) as listener:
        sent = b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello"
        told = await exchange(listener.port, sent)

    assert [answer.code for answer in told.answers] == ["SVC.GTW.003"]


def test_its_attributes_are_known_to_aiohttp():
    """In development mode aiohttp warns of any other."""
    assert {"received"} < WireRequest.ATTRS


async def test_an_expectation_does_not_reach_aiohttp(seen):
    """Its own 417 would be no answer of ours."""
    asked = []

    async def handle(request: web.BaseRequest) -> web.Response:
        asked.append("Expect" in request.headers)
        return web.Response()

    async with listening(handle, seen) as listener:
        answer = await ask(listener.port, more=b"Expect: a-miracle\r\n")

    assert (answer.status, asked) == (200, [False])


async def test_a_handler_of_ours_can_be_asked_by_way_of_aiohttp(seen):
    """By what is put around it: the answer is the same but for the order of its headers."""
    ours = Direct(seen.answer)

    async def around(request: web.BaseRequest) -> web.StreamResponse:
        return await ours(request)

    async with listening(ours, seen) as listener:
        direct = [await ask(listener.port, path) for path in ("/a", "/401")]
    async with listening(around, seen) as listener:
        bridged = [await ask(listener.port, path) for path in ("/a", "/401")]

    assert bridged == direct


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (web.Request, ["ATTRS", "_finish", "_prepare_hook", "_read_bytes", "read"]),
        (web.AppRunner, ["_make_server"]),
        (http_parser.RawRequestMessage, ["_replace"]),
    ],
)
def test_aiohttp_still_has_the_inner_parts(owner, names):
    """Pinned to 3.14: a release that moves one of these must not pass unnoticed."""
    assert [name for name in names if not hasattr(owner, name)] == []


@pytest.mark.parametrize("name", ["request_factory", "request_handler"])
async def test_aiohttp_s_server_still_has_its_part(seen, name):
    assert hasattr(web.Server(seen.handle), name)


def test_an_application_still_makes_requests_of_a_class_of_ours():
    assert "_cls" in inspect.signature(web.Application._make_request).parameters


async def until(holds) -> None:
    """Wait until it holds; two seconds are for ever."""
    async with asyncio.timeout(2):
        while not holds():
            await asyncio.sleep(0.01)
