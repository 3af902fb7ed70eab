"""Requests as the listener hands them up."""

import asyncio
import sys
from unittest import mock

import pytest
from aiohttp import web
from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.test_utils import make_mocked_request
from aiohttp.web_protocol import ERROR
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.domain.errors import MALFORMED_REQUEST
from gateway.http.wire.limits import WireLimits
from gateway.http.wire.request import WireRequest, understand
from tests.raw_http import HOST, exchange
from tests.wired import listening


async def test_a_sound_request_is_handed_up_as_it_came():
    request = made(message(("Host", "a"), ("X-A", "1")))

    assert (request.flaw, request.parsed, request.awaits_continue) == (None, True, False)
    assert dict(request.headers) == {"Host": "a", "X-A": "1"}


@pytest.mark.parametrize(
    ("expected", "version", "awaits"),
    [
        (["100-continue"], HttpVersion11, True),
        (["100-Continue"], HttpVersion11, True),
        (["100-continue"], HttpVersion10, False),
        (["a-miracle"], HttpVersion11, False),
        (["100-continue", "a-miracle"], HttpVersion11, False),
        ([""], HttpVersion11, False),
    ],
)
async def test_an_expectation_is_met_or_ignored(expected, version, awaits):
    """Unknown ones are ignored: aiohttp's own 417 would be no answer of ours."""
    headers = [("Expect", each) for each in expected]

    request = made(message(*headers, ("X-A", "1"), version=version))

    assert request.awaits_continue is awaits
    assert dict(request.headers) == {"X-A": "1"}


async def test_nothing_of_a_refused_request_is_kept_but_its_method():
    """What is not kept cannot be echoed; an answer to HEAD stays without a body."""
    request = made(message(("Host", "a b"), ("Authorization", "secret"), method="HEAD"))

    assert request.flaw is MALFORMED_REQUEST
    assert (request.method, request.path, dict(request.headers)) == ("HEAD", "/", {})
    assert request.version == HttpVersion11


async def test_what_the_parser_gave_up_on_is_answered_as_http_1_1():
    request = made(ERROR)

    assert not request.parsed
    assert (request.flaw, request.version) == (None, HttpVersion11)


async def test_a_target_that_only_looks_like_an_address_is_refused():
    """Building the request must not fail where nobody would answer."""
    calls = []

    def build(message: RawRequestMessage, *rest: object) -> WireRequest:
        calls.append(message)
        if len(calls) == 1:
            raise ValueError
        return built(message, *rest)

    request = understand(build, WireLimits(), message(), *rest())

    assert request.flaw is MALFORMED_REQUEST


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
    assert {"flaw", "parsed", "awaits_continue"} < WireRequest.ATTRS


def message(*headers, method="GET", version=HttpVersion11) -> RawRequestMessage:
    """Make what the parser would have made; by its own class, for ours copies from it."""
    return RawRequestMessage(
        method=method,
        path="/",
        version=version,
        headers=CIMultiDictProxy(CIMultiDict(headers)),
        raw_headers=(),
        should_close=False,
        compression=None,
        upgrade=False,
        chunked=False,
        url=URL("/"),
    )


def rest() -> tuple[object, ...]:
    """Make what aiohttp adds to a message."""
    model = make_mocked_request("GET", "/")
    task = mock.create_autospec(asyncio.Task, instance=True)
    return EMPTY_PAYLOAD, model.protocol, model.writer, task


def built(message: RawRequestMessage, *rest: object) -> WireRequest:
    return WireRequest(message, *rest, asyncio.get_running_loop(), client_max_size=sys.maxsize)


def made(message: RawRequestMessage) -> WireRequest:
    return understand(built, WireLimits(), message, *rest())
