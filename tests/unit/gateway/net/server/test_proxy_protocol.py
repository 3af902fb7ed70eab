"""The PROXY header, by its description of 2020/03/05."""

import pytest

from gateway.net.server.proxy_protocol import (
    MalformedProxyHeader,
    ProxyHeader,
    read_proxy_header,
)
from tests.unit.gateway.net.server.proxy_protocol import BROKEN, HTTP, WHOLE


@pytest.mark.parametrize(("header", "address"), WHOLE)
def test_a_header_says_for_whom_is_asked(header: bytes, address: str):
    """Empty for a health check of the proxy's own, and where the proxy does not know."""
    assert read_proxy_header(header + HTTP) == ProxyHeader(address, HTTP)


@pytest.mark.parametrize(("header", "address"), WHOLE)
def test_a_part_of_a_header_is_waited_for(header: bytes, address: str):
    """However it is cut, nothing is decided before its last byte."""
    parts = [read_proxy_header(header[:end]) for end in range(len(header))]

    assert parts == [None] * len(header)
    assert read_proxy_header(header) == ProxyHeader(address, b"")


@pytest.mark.parametrize("received", BROKEN)
def test_whatever_else_is_refused(received: bytes):
    with pytest.raises(MalformedProxyHeader):
        read_proxy_header(received)


@pytest.mark.parametrize("received", BROKEN)
def test_whatever_else_is_refused_byte_by_byte_too(received: bytes):
    """Never is more kept than the longest header."""
    for end in range(len(received) + 1):
        try:
            assert read_proxy_header(received[:end]) is None
        except MalformedProxyHeader:
            return

    pytest.fail("taken for the beginning of a header")
