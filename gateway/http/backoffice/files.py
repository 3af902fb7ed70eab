"""Lists as files to be kept: tables for spreadsheets, read page by page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.route import Answer
from gateway.reports.files import DownloadFile

CSV: Final = "text/csv; charset=utf-8"


def kept(name: str) -> Mapping[str, str]:
    """Return the headers of a file to be kept; no browser guesses at what it is."""
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }


def table(name: str) -> Callable[[DownloadFile, BackOfficeCaller], Answer[bytes]]:
    """Answer with a table of this name."""

    def shows(found: DownloadFile, _who: BackOfficeCaller) -> Answer[bytes]:
        return Answer(
            content=found.first,
            content_type=CSV,
            headers=kept(name),
            rest=found.rest,
        )

    return shows
