"""Times of banks that usually name no zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, tzinfo


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
