"""Requests that the parser lets pass and we do not."""

import pytest
from aiohttp.http import HttpVersion
from aiohttp.http_parser import RawRequestMessage
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.domain.kernel.errors import HEADERS_TOO_LARGE, MALFORMED_REQUEST
from gateway.net.server.peer import ServerLimits
from gateway.net.server.request import find_flaw

LIMITS = ServerLimits(request_line_bytes=100, header_line_bytes=50)
TE = "Transfer-Encoding"


@pytest.mark.parametrize("version", [(1, 0), (1, 1)], ids=str)
def test_two_versions_are_spoken(version):
    assert find_flaw(message(version=version), LIMITS) is None


@pytest.mark.parametrize("version", [(0, 9), (1, 2), (2, 0), (3, 0), (9, 9)], ids=str)
def test_no_other_version_is_spoken(version):
    assert find_flaw(message(version=version), LIMITS) is MALFORMED_REQUEST


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "//a"), ("GET", "/a%2Fb?c=d"), ("GET", "HTTP://a/b"), ("OPTIONS", "*")],
)
def test_a_target_is_a_path_or_an_address(method, path):
    assert find_flaw(message(method=method, path=path), LIMITS) is None


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "*"), ("GET", "/a#b"), ("CONNECT", "a:443"), ("GET", "ftp://a/"), ("GET", "")],
)
def test_nothing_else_is_a_target(method, path):
    assert find_flaw(message(method=method, path=path), LIMITS) is MALFORMED_REQUEST


@pytest.mark.parametrize("host", ["", "a", "a.b:1", "a:", "[::1]", "[::1]:65535", "10.0.0.1:80"])
def test_a_host_is_a_name_or_an_address(host):
    assert find_flaw(message(("Host", host)), LIMITS) is None


@pytest.mark.parametrize(
    "host", ["a b", "a/b", "a@b", "a?b", "é", "a:65536", "a:b", "[::1", "a,b", "a\n", "a:1:2", "٣"]
)
def test_nothing_else_is_a_host(host):
    assert find_flaw(message(("Host", host)), LIMITS) is MALFORMED_REQUEST


@pytest.mark.parametrize("length", ["0", "5", "005", "9" * 18])
def test_a_length_is_digits(length):
    assert find_flaw(message(("Content-Length", length)), LIMITS) is None


@pytest.mark.parametrize("length", ["", "+5", "5 ", "9" * 19, "18446744073709551615", "٥", "5\n"])
def test_nothing_else_is_a_length(length):
    assert find_flaw(message(("Content-Length", length)), LIMITS) is MALFORMED_REQUEST


@pytest.mark.parametrize("coding", ["chunked", "Chunked", "CHUNKED"])
def test_chunked_is_the_one_transfer_coding(coding):
    assert find_flaw(message((TE, coding)), LIMITS) is None


@pytest.mark.parametrize(
    "headers",
    [
        [(TE, "")],
        [(TE, "identity")],
        [(TE, "gzip, chunked")],
        [(TE, "chunked"), (TE, "chunked")],
        [(TE, "chunked"), ("Content-Length", "5")],
    ],
)
def test_any_other_transfer_coding_is_refused(headers):
    assert find_flaw(message(*headers), LIMITS) is MALFORMED_REQUEST


def test_a_transfer_coding_is_refused_on_http_1_0():
    """An older reader in front would not know it and take the body for a request."""
    assert find_flaw(message((TE, "chunked"), version=(1, 0)), LIMITS) is MALFORMED_REQUEST


@pytest.mark.parametrize(("length", "flaw"), [(86, None), (87, HEADERS_TOO_LARGE)])
def test_the_whole_request_line_is_measured(length, flaw):
    """``GET``, a target of so many bytes, ``HTTP/1.1`` and two spaces against 100."""
    assert find_flaw(message(path="/" + "a" * length), LIMITS) is flaw


@pytest.mark.parametrize(("length", "flaw"), [(45, None), (46, HEADERS_TOO_LARGE)])
def test_the_whole_header_line_is_measured(length, flaw):
    """``X-A``, colon, space and a value of so many bytes against 50."""
    assert find_flaw(message(("X-A", "a" * length)), LIMITS) is flaw


def message(
    *headers: tuple[str, str],
    method: str = "GET",
    path: str = "/",
    version: tuple[int, int] = (1, 1),
) -> RawRequestMessage:
    """Make what the parser would have made."""
    return RawRequestMessage(
        method=method,
        path=path,
        version=HttpVersion(*version),
        headers=CIMultiDictProxy(CIMultiDict(headers)),
        raw_headers=tuple((name.encode(), value.encode()) for name, value in headers),
        should_close=False,
        compression=None,
        upgrade=False,
        chunked=False,
        url=URL("/"),
    )
