"""Requests: the head as a handler is given it, the body within a size and a time."""

import asyncio

import pytest
from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.net.server.reply import Reply
from gateway.net.server.request import BodyTooLarge, MalformedBody, Request, RequestTimeout
from tests.unit.gateway.net.server import pairs
from tests.world.raw_http import HOST, exchange, until_closed
from tests.world.waiting import until
from tests.world.wired import PATIENT, listening

POST = b"POST / HTTP/1.1\r\n" + HOST
LENGTH_5, LENGTH_0 = ("Content-Length", "005"), ("Content-Length", "0")
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


class Connection:
    """Counts how often it sends ``100 Continue``."""

    address = "10.0.0.1"
    transport = None

    def __init__(self) -> None:
        self.continued = 0

    def send_continue(self) -> None:
        self.continued += 1

    def certificate(self, headers: CIMultiDictProxy[str]) -> bytes:
        return headers["Host"].encode()


def test_a_target_is_a_path_and_a_query():
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

    requests = [(target, made(path=target)) for target, _, _ in expected]

    assert [(target, each.path, each.query) for target, each in requests] == expected


def test_the_rest_is_as_it_came():
    request = made(("Host", "a"), ("X-A", "1"))

    assert (request.method, request.address) == ("GET", "10.0.0.1")
    assert dict(request.headers) == {"Host": "a", "X-A": "1"}
    assert request.is_complete


def test_a_declared_length_is_known():
    lengths = [made(*headers).content_length for headers in ([], [LENGTH_5], [LENGTH_0])]

    assert lengths == [0, 5, 0]


def test_an_expectation_is_met_or_ignored():
    cases = [
        (["100-continue"], HttpVersion11, True),
        (["100-Continue"], HttpVersion11, True),
        (["100-continue"], HttpVersion10, False),
        (["a-miracle"], HttpVersion11, False),
        (["100-continue", "a-miracle"], HttpVersion11, False),
        ([""], HttpVersion11, False),
        ([], HttpVersion11, False),
    ]
    for expected, version, awaits in cases:
        request = made(*[("Expect", each) for each in expected], version=version)

        request.send_continue()

        assert (request.awaits_continue, request.connection.continued) == (awaits, int(awaits))


class Reader:
    """Reads five bytes within a time and remembers how it went."""

    def __init__(self, within_s: float = 60.0) -> None:
        self.within_s = within_s
        self.read: list[bytes] = []
        self.problems: list[type[Exception]] = []

    async def __call__(self, request: Request) -> Reply:
        try:
            self.read.append(await request.read(5, self.within_s))
        except Exception as problem:
            self.problems.append(type(problem))
            raise
        return Reply()


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
async def test_a_body_is_read_whole(seen, reader, portions):
    async with listening(reader, seen, PATIENT) as listener:
        told = await exchange(listener.port, *portions, answers=1)

    assert told.statuses == [200]
    assert reader.read == [b"hello"]


async def test_no_body_is_an_empty_one(seen, reader):
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
        ((CHUNKED, b"5\r\nhelloo\r\n"), MalformedBody, (400, "SVC.VAL.011")),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(seen, reader, portions, problem, refusal):
    """The application may catch these; left alone they are answered all the same."""
    reader.within_s = 0.05 if problem is RequestTimeout else 60.0
    async with listening(reader, seen, PATIENT) as listener:
        told = await until_closed(listener.port, *portions)

    assert reader.problems == [problem]
    assert [(answer.status, answer.code) for answer in told.answers] == [refusal]
    assert told.closed


def test_the_deadline_is_for_the_whole_body():
    """A byte now and then does not move it."""
    portions = [POST + b"Content-Length: 5\r\n\r\n", *[b"a"] * 5]

    answers = pairs.exchange(Reader(20.0), PATIENT, *portions, gap_s=6.0)

    assert [answer.status for answer in answers] == [408]


async def test_nobody_is_answered_who_hung_up(seen, reader):
    async with listening(reader, seen, PATIENT) as listener:
        _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(POST + b"Content-Length: 5\r\n\r\n")
        await until(lambda: listener.server.in_flight)
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
async def test_a_body_is_invited_only_when_it_will_be_read(seen, reader, portions, statuses):
    start = POST + b"Expect: 100-continue\r\n"

    async with listening(reader, seen, PATIENT) as listener:
        told = await exchange(
            listener.port, start + portions[0], *portions[1:], answers=len(statuses)
        )

    assert told.statuses == statuses


def made(*headers, path="/", version=HttpVersion11) -> Request:
    """Make a request of what the parser would have made."""
    return Request(
        RawRequestMessage(
            method="GET",
            path=path,
            version=version,
            headers=CIMultiDictProxy(CIMultiDict(headers)),
            raw_headers=(),
            should_close=False,
            compression=None,
            upgrade=False,
            chunked=False,
            url=URL(path, encoded=True),
        ),
        EMPTY_PAYLOAD,
        Connection(),
    )


def test_a_connection_knows_the_certificate_of_a_request():
    """One proxy's connection carries the requests of many callers."""
    assert made(("Host", "a")).certificate == b"a"
