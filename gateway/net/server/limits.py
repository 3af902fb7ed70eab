"""What one caller may take of the listener: bytes, seconds, connections."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.net.server.client_address import ClientAddress, Networks


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """
    The limits below the application; the defaults are those of the contract's deployment.

    Attributes:
        request_line_bytes: Method, target and version with the two spaces.
        header_line_bytes: One header: name, colon, space and value.
        headers: Header lines of one request, trailers included.
        header_deadline_s: From the connection's start, or from the first byte of
            a later request, until its headers are complete.
        body_deadline_s: From the first read of a body until its last byte.
        keepalive_s: How long a connection may stay idle between two requests.
        answer_deadline_s: How long a caller may take nothing of the answer it is sent.
        linger_s: How long bytes are still read and thrown away after a refusal, so
            that the caller sees the answer and not a reset.
        connections_per_address: Open at once from one client address.
        connections: Open at once in all.
        trusted_peers: Networks of our own proxies. The limit per address does not
            apply to them; the limit in all does.
        client_address: Where the client's address comes from. Except for ``peer``,
            only ``trusted_peers`` are believed.
    """

    # References and cursors in a target are long; nothing of ours comes near this.
    request_line_bytes: int = 16 * 1024
    # aiohttp's default, and close to that of most proxies.
    header_line_bytes: int = 8190
    # A proxy adds ten or so to the few that a partner sends.
    headers: int = 64
    header_deadline_s: float = 10.0
    body_deadline_s: float = 15.0
    # Longer than the 60 seconds of common proxies, which should be the ones to close.
    keepalive_s: float = 75.0
    answer_deadline_s: float = 60.0
    # One round trip on a bad line, and little for a caller that never stops sending.
    linger_s: float = 2.0
    connections_per_address: int = 100
    connections: int = 10_000
    trusted_peers: Networks = ()
    client_address: ClientAddress = "peer"
