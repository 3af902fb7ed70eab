"""Requests: the head as a handler is given it, the body within a size and a time."""

import asyncio
from collections.abc import Mapping

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from gateway.net.server.request import (
    BodyTooLarge,
    RequestTimeout,
    address_of,
    certificate_of,
    declared_bytes,
    front_of,
    read_body,
    target,
)
from tests.unit.gateway.net.server import pairs
from tests.world.raw_http import HOST, exchange
from tests.world.waiting import until
from tests.world.wired import PATIENT, listening

POST = b"POST / HTTP/1.1\r\n" + HOST
LENGTH_5, LENGTH_0 = {"Content-Length": "005"}, {"Content-Length": "0"}
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def test_a_target_is_split_into_path_and_query():
    """Neither is decoded."""
    expected = [
        ("/", "/", ""),
        ("/a%2Fb?c=d%20e&f", "/a%2Fb", "c=d%20e&f"),
        ("//a", "//a", ""),
        ("/a?", "/a", ""),
        ("/a?b?c", "/a", "b?c"),
        ("http://other:80/a%20b?c=d", "/a%20b", "c=d"),
        ("http://other", "/", ""),
    ]

    assert [(each, *target(made(each))) for each, _, _ in expected] == expected


def test_the_declared_content_length_is_returned():
    lengths = [declared_bytes(made(headers=each)) for each in ({}, LENGTH_5, LENGTH_0)]

    assert lengths == [0, 5, 0]


def test_a_request_without_our_front_has_no_certificate():
    """As in tests of the application, where aiohttp reports the caller."""
    request = made()

    assert (front_of(request), certificate_of(request)) == (None, b"")
    assert address_of(request) == (request.remote or "")


class Reader:
    """Reads five bytes within a time and remembers how it went."""

    def __init__(self, within_s: float = 60.0) -> None:
        self.within_s = within_s
        self.read: list[bytes] = []
        self.problems: list[type[Exception]] = []

    async def __call__(self, request: web.Request) -> web.Response:
        try:
            self.read.append(await read_body(request, 5, self.within_s))
        except Exception as problem:
            self.problems.append(type(problem))
            raise
        return web.Response()


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.mark.parametrize(
    "portions",
    [
        (POST + b"Content-Length: 5\r\n\r\nhello",),
        (POST + b"Content-Length: 5\r\n\r\n", b"he", b"llo"),
        (CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",),
        (CHUNKED, b"2\r\nhe\r\n", b"3\r\nllo\r\n0\r\n\r\n"),
    ],
)
async def test_a_body_is_read_complete_in_any_portions(seen, reader, portions):
    async with listening(reader, seen, PATIENT) as listener:
        told = await exchange(listener.port, *portions, answers=1)

    assert told.statuses == [200]
    assert reader.read == [b"hello"]


async def test_an_absent_body_is_empty(seen, reader):
    async with listening(reader, seen, PATIENT) as listener:
        await exchange(listener.port, POST + b"\r\n", answers=1)

    assert reader.read == [b""]


@pytest.mark.parametrize(
    ("portions", "problem", "refusal"),
    [
        ((POST + b"Content-Length: 6\r\n\r\n",), BodyTooLarge, (413, "SVC.GTW.003")),
        ((CHUNKED + b"6\r\nhello!\r\n0\r\n\r\n",), BodyTooLarge, (413, "SVC.GTW.003")),
        ((CHUNKED, b"6\r\nhello!\r\n"), BodyTooLarge, (413, "SVC.GTW.003")),
        ((CHUNKED, b"3\r\nhel\r\n", b"3\r\nlo!\r\n"), BodyTooLarge, (413, "SVC.GTW.003")),
        ((POST + b"Content-Length: 5\r\n\r\nhell",), RequestTimeout, (408, "SVC.GTW.004")),
        ((CHUNKED + b"5\r\nhello\r\n",), RequestTimeout, (408, "SVC.GTW.004")),
        ((CHUNKED, b"5\r\nhelloo\r\n"), RequestTimeout, (408, "SVC.GTW.004")),
    ],
)
async def test_an_unreadable_body_is_refused(seen, reader, portions, problem, refusal):
    """The application may catch the errors; uncaught they are answered all the same."""
    reader.within_s = 0.05 if problem is RequestTimeout else 60.0
    async with listening(reader, seen, PATIENT) as listener:
        told = await exchange(listener.port, *portions, answers=1)

    assert reader.problems == [problem]
    assert [(answer.status, answer.code) for answer in told.answers] == [refusal]


def test_the_body_deadline_covers_the_whole_body():
    """Occasional bytes do not extend it."""
    portions = [POST + b"Content-Length: 5\r\n\r\n", *[b"a"] * 5]

    answers = pairs.exchange(Reader(20.0), PATIENT, *portions, gap_s=6.0)

    assert [answer.status for answer in answers] == [408]


async def test_a_caller_that_disconnects_during_the_body_gets_no_answer(seen, reader):
    async with listening(reader, seen, PATIENT) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(POST + b"Content-Length: 5\r\n\r\n")
        await until(lambda: listener.connections.in_flight)
        writer.close()
        await until(lambda: reader.problems)

    assert issubclass(reader.problems[0], ConnectionError)
    assert seen.refusals == []


@pytest.mark.parametrize(
    ("portions", "statuses"),
    [
        ((b"Content-Length: 5\r\n\r\n", b"hello"), [100, 200]),
        ((b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"), [100, 200]),
        ((b"Content-Length: 5\r\n\r\nhello",), [200]),
        ((b"Content-Length: 6\r\n\r\n",), [413]),
    ],
    ids=["length", "chunked", "body came along", "too large"],
)
async def test_100_continue_is_sent_only_when_the_body_is_read(seen, reader, portions, statuses):
    start = POST + b"Expect: 100-continue\r\n"

    async with listening(reader, seen, PATIENT) as listener:
        told = await exchange(
            listener.port, start + portions[0], *portions[1:], answers=len(statuses)
        )

    assert told.statuses == statuses


def made(path: str = "/", headers: Mapping[str, str] | None = None) -> web.Request:
    return make_mocked_request("GET", path, headers=headers)
