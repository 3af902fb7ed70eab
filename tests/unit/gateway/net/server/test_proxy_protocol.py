"""The PROXY header, by its description of 2020/03/05."""

import pytest

from gateway.net.server.proxy_protocol import (
    MalformedProxyHeader,
    read_proxy_header,
)
from tests.unit.gateway.net.server.proxy_protocol import BROKEN, HTTP, WHOLE


def test_a_proxy_protocol_header_gives_the_client_address():
    """Empty for the proxy's own health check, and when the proxy does not know it."""
    found = {header: read_proxy_header(header + HTTP) for header in WHOLE}

    assert found == {header: (address, HTTP) for header, address in WHOLE.items()}


def test_an_incomplete_proxy_protocol_header_gives_no_result():
    """Wherever it is cut, nothing is decided before its last byte."""
    for header, address in WHOLE.items():
        parts = {read_proxy_header(header[:end]) for end in range(len(header))}

        assert parts == {None}
        assert read_proxy_header(header) == (address, b"")


def test_malformed_headers_are_refused():
    """At the latest with their last byte: no more is buffered."""
    for received in BROKEN:
        with pytest.raises(MalformedProxyHeader):
            read_proxy_header(received)
        with pytest.raises(MalformedProxyHeader):
            byte_by_byte(received)


def byte_by_byte(received: bytes) -> None:
    for end in range(len(received) + 1):
        assert read_proxy_header(received[:end]) is None
