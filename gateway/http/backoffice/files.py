"""Lists as files to be kept: tables for spreadsheets, read page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final, Protocol

from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.route import Answer

CSV: Final = "text/csv; charset=utf-8"


class Pieces(Protocol):
    """A file that is read while it is sent."""

    @property
    def first(self) -> bytes:
        """What it begins with."""

    @property
    def rest(self) -> AsyncGenerator[bytes, None] | None:
        """What follows, piece by piece; None where ``first`` is all of it."""


def kept(name: str) -> Mapping[str, str]:
    """Return the headers of a file to be kept; no browser guesses at what it is."""
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }


def table(name: str) -> Callable[[Pieces, BackOfficeCaller], Answer[bytes]]:
    """Answer with a table of this name."""

    def shows(found: Pieces, _who: BackOfficeCaller) -> Answer[bytes]:
        return Answer(
            content=found.first,
            content_type=CSV,
            headers=kept(name),
            rest=found.rest,
        )

    return shows
