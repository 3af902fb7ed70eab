"""The limits below the application."""

from gateway.net.server.peer import ServerLimits


def test_the_defaults_are_the_decided_ones():
    """16 KiB, 8190 B, 64 headers, 32 KiB in all; 10, 15 and 75 s; 100 and 10,000."""
    limits = ServerLimits()

    sizes = (limits.request_line_bytes, limits.header_line_bytes, limits.headers)
    times = (limits.header_deadline_s, limits.body_deadline_s, limits.keepalive_s)
    assert sizes == (16_384, 8190, 64)
    assert limits.head_bytes == 32_768
    assert times == (10.0, 15.0, 75.0)
    assert (limits.connections_per_address, limits.connections) == (100, 10_000)
    assert limits.trusted_peers == ()
