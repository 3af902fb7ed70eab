"""One caller's connection. What it does with bytes is in the probes of ``tests/surfaces/wire``."""

import asyncio
import inspect

import pytest
from aiohttp import http_parser, streams, web, web_protocol
from aiohttp.base_protocol import BaseProtocol

from gateway.http.wire.connection import Connection
from gateway.http.wire.refusals import Refusals
from gateway.http.wire.server import WireServer
from tests.raw_http import HOST, ask, exchange
from tests.wired import SHORT, listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"

HANDLER_PARTS = [
    "_buffer_paused",
    "_force_close",
    "_keepalive_handle",
    "_loop",
    "_messages",
    "_reading_paused",
    "_request_count",
    "_waiter",
]
METHODS = {
    "_handle_request": ["self", "request", "start_time", "request_handler"],
    "finish_response": ["self", "request", "resp", "start_time"],
    "handle_error": ["self", "request", "status", "exc", "message"],
    "log_exception": ["self", "args", "kw"],
    "data_received": ["self", "data"],
    "connection_made": ["self", "transport"],
    "connection_lost": ["self", "exc"],
    "force_close": ["self"],
}


@pytest.mark.parametrize("name", HANDLER_PARTS)
async def test_aiohttp_s_handler_still_has_its_inner_part(seen, name):
    """Pinned to 3.14: a release that moves one of these must not pass unnoticed."""
    server = web.Server(seen.handle)

    handler = server()

    assert hasattr(handler, name)


@pytest.mark.parametrize(("name", "parameters"), METHODS.items(), ids=METHODS)
def test_aiohttp_s_handler_still_takes_the_same(name, parameters):
    method = getattr(web_protocol.RequestHandler, name)

    assert list(inspect.signature(method).parameters) == parameters


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (web_protocol, ["ERROR", "_ErrInfo", "RequestPayloadError"]),
        (web.Request, ["ATTRS", "_prepare_hook", "_read_bytes", "read"]),
        (web.AppRunner, ["_make_server"]),
        (http_parser.RawRequestMessage, ["_replace"]),
        (streams, ["EMPTY_PAYLOAD"]),
        (BaseProtocol, ["resume_reading"]),
    ],
)
def test_aiohttp_still_has_the_other_inner_parts(owner, names):
    assert [name for name in names if not hasattr(owner, name)] == []


def test_aiohttp_s_request_still_keeps_the_same():
    assert {"_payload", "_protocol", "_read_bytes"} < web.Request.ATTRS


@pytest.mark.parametrize("name", ["_loop", "request_factory", "request_handler"])
async def test_aiohttp_s_server_still_has_its_part(seen, name):
    assert hasattr(web.Server(seen.handle), name)


def test_an_application_still_makes_requests_of_a_class_of_ours():
    assert "_cls" in inspect.signature(web.Application._make_request).parameters


def test_an_error_of_the_parser_is_still_queued_with_its_problem():
    made = web_protocol._ErrInfo(400, ValueError("a"), "b")

    assert (made.status, str(made.exc), made.message) == (400, "a", "b")


async def test_the_keep_alive_timer_is_kept_alive_by_requests(seen):
    """Each request starts it anew."""
    async with listening(seen.handle, seen) as listener:
        told = await exchange(listener.port, GET, GET, GET, gap_s=0.4)

    assert told.statuses == [200, 200, 200]


async def test_a_request_begun_is_not_closed_as_idle(seen):
    """The idle time ends in the middle of a request that is in time."""
    async with listening(seen.handle, seen) as listener:
        told = await exchange(listener.port, GET, GET[:20], GET[20:], gap_s=0.25, patience_s=0.2)
        late = await exchange(listener.port, GET, b"", GET[:20], GET[20:], gap_s=0.25)

    assert told.statuses == [200, 200]
    assert late.statuses == [200, 200]


async def test_a_slow_answer_does_not_make_the_next_caller_late(seen):
    """Half a request behind one that is worked on is refused in its turn, not before."""
    async with listening(seen.handle, seen) as listener:
        asyncio.get_running_loop().call_later(0.6, seen.gate.set)
        held = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"
        told = await exchange(listener.port, held, GET[:20])

    assert told.statuses == [200, 408]


async def test_what_we_do_not_read_is_not_late(seen):
    """Forty requests at once: reading pauses at 32, and the half one waits with us."""
    async with listening(seen.handle, seen) as listener:
        asyncio.get_running_loop().call_later(0.7, seen.gate.set)
        held = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"
        told = await exchange(
            listener.port, held + GET * 40 + GET[:20], GET[20:], gap_s=0.8, patience_s=0.3
        )

    assert told.statuses == [200] * 42


async def test_a_fault_of_the_parser_ends_in_an_answer(seen, monkeypatch):
    """Whatever reading raises: the caller is told, and the process goes on."""

    def fail(self: object, data: bytes) -> None:
        message = "gws_4"
        raise LookupError(message)

    async with listening(seen.handle, seen) as listener:
        with monkeypatch.context() as patched:
            patched.setattr(web_protocol.RequestHandler, "data_received", fail)
            told = await exchange(listener.port, GET)
        after = await ask(listener.port)

    assert [(each.status, each.code) for each in told.answers] == [(400, "SVC.VAL.011")]
    assert after.status == 200


async def test_nothing_is_left_of_a_connection(seen):
    """Counters and aiohttp's own list go back to nothing, however it ended."""
    async with listening(seen.handle, seen) as listener:
        for sent in (
            GET,
            b"BAD\r\n\r\n",
            GET[:10],
            b"",
            b"GET /broken HTTP/1.1\r\n" + HOST + b"\r\n",
        ):
            await exchange(listener.port, sent, patience_s=0.05)
        await asyncio.sleep(SHORT.header_deadline_s + SHORT.linger_s + 0.1)
        server = listener.server

        assert (server.open_connections, server.in_flight, server.connections) == (0, 0, [])


async def test_a_connection_has_no_dictionary_of_its_own(seen):
    """Ten thousand of them are kept: each attribute has its slot."""
    server = WireServer(seen.handle, None, SHORT, Refusals())

    connection = server()

    assert isinstance(connection, Connection)
    assert not hasattr(connection, "__dict__")
