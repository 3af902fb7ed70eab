"""Connections without a socket."""

from dataclasses import dataclass


@dataclass(eq=False)
class Caller:
    """What ``Connections`` counts of a connection."""

    address: str
