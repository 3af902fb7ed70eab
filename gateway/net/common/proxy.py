"""The proxy through which connections to a provider leave, where there is one."""

from __future__ import annotations

from dataclasses import dataclass, field


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
