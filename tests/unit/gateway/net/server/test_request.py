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
from tests.world.raw_http import HOST, exchange
from tests.world.wired import listening

POST = b"POST / HTTP/1.1\r\n" + HOST
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


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/", "/", ""),
        ("/a%2Fb?c=d%20e&f", "/a%2Fb", "c=d%20e&f"),
        ("//a", "//a", ""),
        ("/a?", "/a", ""),
        ("/a?b?c", "/a", "b?c"),
        ("http://other:80/a%20b?c=d", "/a%20b", "c=d"),
        ("http://other", "/", ""),
    ],
)
def test_a_target_is_a_path_and_a_query(target, path, query):
    """Neither is decoded."""
    request = made(path=target)

    assert (request.path, request.query) == (path, query)


def test_the_rest_is_as_it_came():
    request = made(("Host", "a"), ("X-A", "1"))

    assert (request.method, request.address) == ("GET", "10.0.0.1")
    assert dict(request.headers) == {"Host": "a", "X-A": "1"}
    assert request.is_complete


@pytest.mark.parametrize(
    ("headers", "length"),
    [([], 0), ([("Content-Length", "005")], 5), ([("Content-Length", "0")], 0)],
)
def test_a_declared_length_is_known(headers, length):
    assert made(*headers).content_length == length


@pytest.mark.parametrize(
    ("expected", "version", "awaits"),
    [
        (["100-continue"], HttpVersion11, True),
        (["100-Continue"], HttpVersion11, True),
        (["100-continue"], HttpVersion10, False),
        (["a-miracle"], HttpVersion11, False),
        (["100-continue", "a-miracle"], HttpVersion11, False),
        ([""], HttpVersion11, False),
        ([], HttpVersion11, False),
    ],
)
def test_an_expectation_is_met_or_ignored(expected, version, awaits):
    request = made(*[("Expect", each) for each in expected], version=version)

    request.send_continue()

    assert (request.awaits_continue, request.connection.continued) == (awaits, int(awaits))


class Reader:
    """Reads five bytes within 0.2 s and remembers how it went."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.problems: list[type[Exception]] = []
        self.ended = asyncio.Event()

    async def __call__(self, request: Request) -> Reply:
        try:
            self.read.append(await request.read(5, 0.2))
        except Exception as problem:
            self.problems.append(type(problem))
            raise
        finally:
            self.ended.set()
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
    async with listening(reader, seen) as listener:
        told = await exchange(listener.port, *portions, patience_s=0.1)

    assert told.statuses == [200]
    assert reader.read == [b"hello"]


async def test_no_body_is_an_empty_one(seen, reader):
    async with listening(reader, seen) as listener:
        await exchange(listener.port, POST + b"\r\n", patience_s=0.1)

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
    async with listening(reader, seen) as listener:
        told = await exchange(listener.port, *portions)

    assert reader.problems == [problem]
    assert [(answer.status, answer.code) for answer in told.answers] == [refusal]
    assert told.closed


async def test_the_deadline_is_for_the_whole_body(seen, reader):
    """A byte now and then does not move it."""
    portions = [POST + b"Content-Length: 5\r\n\r\n", *[b"a"] * 4]

    async with listening(reader, seen) as listener:
        told = await exchange(listener.port, *portions, gap_s=0.07)

    assert told.statuses == [408]


async def test_nobody_is_answered_who_hung_up(seen, reader):
    async with listening(reader, seen) as listener:
        await exchange(listener.port, POST + b"Content-Length: 5\r\n\r\n", patience_s=0.05)
        await asyncio.wait_for(reader.ended.wait(), 20)

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

    async with listening(reader, seen) as listener:
        told = await exchange(listener.port, start + portions[0], *portions[1:], patience_s=0.1)

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
