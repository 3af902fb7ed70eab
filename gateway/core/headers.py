"""The headers of a request, as policies and proofs of callbacks read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Headers(Protocol):
    """The headers of a request: names in any letter case, every value in order."""

    def get(self, name: str, /) -> str | None:
        """Return the first value; None when there is none."""
        ...

    def getall(self, name: str, default: Sequence[str], /) -> Sequence[str]:
        """Return every value; ``default`` when there is none."""
        ...


class NoHeaders:
    """A request without headers."""

    def get(self, _name: str, /) -> str | None:
        """Return nothing."""
        return None

    def getall(self, _name: str, default: Sequence[str], /) -> Sequence[str]:
        """Return the default."""
        return default


NO_HEADERS = NoHeaders()
