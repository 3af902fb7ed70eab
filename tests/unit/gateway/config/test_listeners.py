"""Listeners bind loopback addresses by default."""

from gateway.config.checks import is_loopback
from gateway.config.listeners import Admin, Server


def test_listeners_bind_loopback_by_default():
    assert is_loopback(Server().host)
    assert is_loopback(Admin().host)
    assert not Admin().allow_public


def test_request_limits_have_their_documented_defaults():
    """Header 10 s, body 15 s, keep-alive 75 s; 16 KiB, 8190 B, 64 headers; drain 5 and 30 s."""
    server = Server()

    deadlines = (server.header_deadline_s, server.body_deadline_s, server.keep_alive_s)
    sizes = (server.request_line_bytes, server.header_line_bytes, server.headers)
    assert deadlines == (10, 15, 75)
    assert sizes == (16_384, 8_190, 64)
    assert (server.connections_per_address, server.connections) == (100, 10_000)
    assert (server.drain_accept_s, server.drain_s) == (5, 30)
