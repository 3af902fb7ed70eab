"""Requests as a handler is asked them."""

import pytest
from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.net.server.request import Request


class Wire:
    """A connection that counts invitations."""

    address = "10.0.0.1"

    def __init__(self) -> None:
        self.invited = 0

    def invite(self) -> None:
        self.invited += 1


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

    request.invite()

    assert (request.awaits_continue, request.wire.invited) == (awaits, int(awaits))


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
        Wire(),
    )
