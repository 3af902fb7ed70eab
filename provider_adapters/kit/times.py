"""Times of banks that usually name no zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from gateway.core.windows import Window


def instant(text: str, zone: tzinfo) -> datetime:
    """
    Read a time, or a day as its first instant, and return it in UTC.

    A zone in the text is heeded; ``zone``, the bank's, is that of a text without one.

    Raises:
        ValueError: It is neither a day nor a time of ISO 8601.
    """
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)


def local_day(text: str, zone: tzinfo) -> date:
    """
    Return the bank's day of a time; that of a text without a zone is the day it names.

    Raises:
        ValueError: It is neither a day nor a time of ISO 8601.
    """
    return instant(text, zone).astimezone(zone).date()


def utc(at: datetime | None) -> datetime | None:
    """Convert an instant to UTC; None stays None."""
    return at if at is None or at.tzinfo is UTC else at.astimezone(UTC)


def milliseconds(at: datetime) -> str:
    """Write an instant as RFC 3339 in UTC with milliseconds: ``2026-11-22T00:00:00.000Z``."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# The same few windows come again and again.
@lru_cache(maxsize=1_000)
def ends(window: Window) -> tuple[str, str]:
    """Write both ends of a window with milliseconds."""
    return milliseconds(window.start), milliseconds(window.end)
