"""Formats of settings' values, and texts that mask themselves when printed."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from msgspec import Meta

Seconds = Annotated[float, Meta(gt=0, le=86_400)]
"""A duration that is not zero."""
SecondsOrNone = Annotated[float, Meta(ge=0, le=86_400)]
"""A duration; zero means not at all."""
Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
"""A number of things or bytes; not zero."""
Reais = Annotated[
    str,
    Meta(pattern=r"\A(0|[1-9][0-9]{0,9})\.[0-9]{2}\Z", description="reais with two decimals"),
]
"""An amount of money, as text: no float stands between the file and us."""
ReaisOrOff = Annotated[
    str,
    Meta(
        pattern=r"\A(|off|(0|[1-9][0-9]{0,9})\.[0-9]{2})\Z",
        description="reais with two decimals, or off",
    ),
]
"""The same, or ``off``; empty is the environment's own."""
TimeOfDay = Annotated[
    str,
    Meta(pattern=r"\A([01][0-9]|2[0-3]):[0-5][0-9]\Z", description="a time of day, HH:MM"),
]
Port = Annotated[int, Meta(ge=0, le=65_535)]
"""A TCP port; 0 takes a free one."""
Name = Annotated[
    str,
    Meta(
        pattern=r"\A[a-z0-9][a-z0-9-]{0,62}\Z",
        description="a name of lower-case letters, digits and hyphens",
    ),
]
"""A name that stands in records, metrics and logs."""
Label = Annotated[str, Meta(min_length=1, max_length=64)]
"""A name for people only."""


def written(text: str) -> Meta:
    """Return the value implied by a file without the setting."""
    return Meta(extra={"written": text})


_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")
_PASSWORD = re.compile(r"([?&][a-z]*password=)[^&#\s]*", re.IGNORECASE)


class Secret(str):
    """
    A secret; ``repr``, ``str`` and formatting hide it.

    Only ``encode`` returns its content. An empty secret means that none is configured.
    """

    __slots__ = ()

    @property
    def shown(self) -> str:
        """Return only whether there is a secret."""
        return "***" if self else ""

    def __repr__(self) -> str:
        return f"Secret({self.shown!r})"

    def __str__(self) -> str:
        return self.shown


class Address(str):
    """A URL that may contain a password, which ``repr`` masks; ``str`` is complete."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The address without user and password."""
        return without_credentials(self)

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def without_credentials(text: str) -> str:
    """Mask the user and password of every URL in ``text``."""
    return _PASSWORD.sub(r"\1***", _USERINFO.sub("***@", text))


def read_networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Read networks with commas between them; ValueError names an invalid one."""
    return tuple(ip_network(each.strip()) for each in text.split(",") if each.strip())
