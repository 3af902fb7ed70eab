"""Connections without a socket."""

from gateway.net.server.peer import Peer, ServerLimits


class Caller:
    """What ``Connections`` counts of a connection."""

    def __init__(self, address: str) -> None:
        self.peer = Peer(address, ServerLimits())
