"""How connections to a provider leave this machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.net.common.names import HostNames


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """
    A proxy that connects us by CONNECT; what it passes on it cannot read.

    Attributes:
        authorization: The value of ``Proxy-Authorization``; empty for a proxy that asks for none.
    """

    host: str
    port: int
    authorization: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Route:
    """
    The way to one provider.

    Attributes:
        names: Its host names; all its connections share what is known of them.
        proxy: Connects us; None for connecting ourselves.
    """

    names: HostNames = field(default_factory=HostNames)
    proxy: Proxy | None = None
