"""Lists of the bank: a half-open window of instants, by cursor, newest first."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final

from gateway.domain.kernel.windows import Window

LARGEST_PAGE: Final = 500


def query(window: Window, cursor: str | None, limit: int) -> dict[str, str]:
    """Write what part of a list is wanted; the bank's window is half open as ours."""
    start, end = _instants(window)
    asked = {"de": start, "ate": end, "limite": str(min(max(limit, 1), LARGEST_PAGE))}
    return asked if cursor is None else {**asked, "cursor": cursor}


@lru_cache(maxsize=1_000)
def _instants(window: Window) -> tuple[str, str]:
    """Write both ends of a window; the same few days are asked for over and over."""
    return instant(window.start), instant(window.end)


def instant(at: datetime) -> str:
    """Write an instant as the bank reads it."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
