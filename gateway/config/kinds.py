"""What values of settings look like, and what a silent file is taken to say."""

from __future__ import annotations

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
    """Say what a file that is silent about the setting is taken to say."""
    return Meta(extra={"written": text})
