"""Requests that the parser lets pass and we do not."""

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from gateway.core.errors import HEADERS_TOO_LARGE, MALFORMED_REQUEST
from gateway.net.server.peer import ServerLimits
from gateway.net.server.soundness import find_fault, find_flaw

LIMITS = ServerLimits(request_line_bytes=100, header_line_bytes=50)
TE = "Transfer-Encoding"


def flaws(messages: dict[object, web.Request]) -> dict[object, object]:
    """Name those that are refused, each with its reason."""
    found = {name: find_flaw(each, LIMITS, 1000) for name, each in messages.items()}
    return {name: flaw for name, flaw in found.items() if flaw is not None}


def refused(*names: object) -> dict[object, object]:
    return dict.fromkeys(names, MALFORMED_REQUEST)


def test_a_request_that_aiohttp_cannot_parse_is_too_large_or_malformed():
    """A body after it is not counted as one of its lines."""
    line, header = b"GET /" + b"a" * 91 + b" HTTP/1.1", b"A: " + b"a" * 47
    whole = line[:5] + line[-9:]
    received = {
        line[:100]: MALFORMED_REQUEST,
        line + b"\r\n": HEADERS_TOO_LARGE,
        whole + b"\r\n" + header: MALFORMED_REQUEST,
        whole + b"\r\n" + header + b"a": HEADERS_TOO_LARGE,
        whole + b"\r\nA: b" * 64: MALFORMED_REQUEST,
        whole + b"\r\nA: b" * 65 + b"\r\n\r\n": HEADERS_TOO_LARGE,
        whole + b"\r\nA: b\r\n\r\n" + b"a" * 101: MALFORMED_REQUEST,
        b"": MALFORMED_REQUEST,
    }

    assert {each: find_fault(each, LIMITS) for each in received} == received


def test_only_http_1_0_and_1_1_are_accepted():
    others = ((0, 9), (1, 2), (2, 0), (3, 0), (9, 9))

    found = flaws({each: message(version=each) for each in ((1, 0), (1, 1), *others)})

    assert found == refused(*others)


def test_a_target_must_be_a_path_or_a_url():
    targets = (
        ("GET", "/"), ("GET", "//a"), ("GET", "/a%2Fb?c=d"), ("GET", "HTTP://a/b"),
        ("OPTIONS", "*"),
    )  # fmt: skip
    others = (
        ("GET", "*"), ("GET", "/a#b"), ("CONNECT", "a:443"), ("GET", "ftp://a/"), ("GET", ""),
    )  # fmt: skip

    found = flaws({each: message(method=each[0], path=each[1]) for each in (*targets, *others)})

    assert found == refused(*others)


def test_a_host_must_be_a_name_or_an_address_with_an_optional_port():
    hosts = ("", "a", "a.b:1", "a:", "[::1]", "[::1]:65535", "10.0.0.1:80")
    others = (
        *("a b", "a/b", "a@b", "a?b", "é", "a:65536", "a:b", "[::1", "a,b", "a\n", "a:1:2", "٣"),
    )

    found = flaws({each: message(("Host", each)) for each in (*hosts, *others)})

    assert found == refused(*others)


def test_a_content_length_has_digits_alone():
    lengths = ("0", "5", "005", "9" * 18)
    others = ("", "+5", "5 ", "9" * 19, "18446744073709551615", "٥", "5\n")

    found = flaws({each: message(("Content-Length", each)) for each in (*lengths, *others)})

    assert found == refused(*others)


def test_chunked_is_the_only_accepted_transfer_coding():
    codings = (((TE, "chunked"),), ((TE, "Chunked"),), ((TE, "CHUNKED"),))
    others = (
        ((TE, ""),),
        ((TE, "identity"),),
        ((TE, "gzip, chunked"),),
        ((TE, "chunked"), (TE, "chunked")),
        ((TE, "chunked"), ("Content-Length", "5")),
    )

    found = flaws({each: message(*each) for each in (*codings, *others)})

    assert found == refused(*others)


def test_a_transfer_coding_is_refused_on_http_1_0():
    """An older reader before us would ignore it and take the body for a request."""
    assert find_flaw(message((TE, "chunked"), version=(1, 0)), LIMITS, 1000) is MALFORMED_REQUEST


@pytest.mark.parametrize(("length", "flaw"), [(86, None), (87, HEADERS_TOO_LARGE)])
def test_the_request_line_is_limited_in_bytes(length, flaw):
    """``GET``, a target of that length, ``HTTP/1.1`` and two spaces against 100."""
    assert find_flaw(message(path="/" + "a" * length), LIMITS, 1000) is flaw


@pytest.mark.parametrize(("length", "flaw"), [(45, None), (46, HEADERS_TOO_LARGE)])
def test_a_header_line_is_limited_in_bytes(length, flaw):
    """``X-A``, colon, space and a value of that length against 50."""
    assert find_flaw(message(("X-A", "a" * length)), LIMITS, 1000) is flaw


def message(
    *headers: tuple[str, str],
    method: str = "GET",
    path: str = "/",
    version: tuple[int, int] = (1, 1),
) -> web.Request:
    return make_mocked_request(
        method, path, headers=CIMultiDict(headers), version=aiohttp.HttpVersion(*version)
    )
