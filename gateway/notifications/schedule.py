"""When a notification is sent: at once, with others, after the quiet hours, or in the evening."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Final

from gateway.core.night import Night
from gateway.core.windows import LOCAL
from gateway.notifications.model import Choice, Occasion, Way

DIGEST_AT: Final = time(18)
"""In São Paulo: the end of the working day, before the quiet hours."""
TOGETHER: Final = timedelta(minutes=1)
"""A recipient is told of one kind once in it: six orders in a row are two messages."""


def due_at(occasion: Occasion, choice: Choice, now: datetime, way: Way = Way.MAIL) -> datetime:
    """
    Return when a person is notified of an occasion.

    That is at once for an urgent occasion, and for an occasion that ends before its due time.
    """
    if occasion.is_urgent:
        return now
    is_digest = way is Way.MAIL and occasion.kind in choice.digest
    due = _evening(now) if is_digest else _after_quiet_hours(choice, now)
    return now if occasion.ends_at is not None and occasion.ends_at <= due else due


def after_others(
    due: datetime, ends_at: datetime | None, now: datetime, last: datetime | None
) -> datetime:
    """
    Return when a notification is sent, given the recipient's latest of its kind.

    The first notification of a kind is sent when it is due, and those of the next minute together
    at its end. What ends before is sent at once.

    Args:
        due: When it is due by the recipient's choice.
        ends_at: The end of the occasion; None without an end.
        now: The time.
        last: The due time of the recipient's latest notification of the kind.
    """
    if due > now or last is None or not now - TOGETHER < last <= now + TOGETHER:
        return due
    at = last if last > now else last + TOGETHER
    return now if ends_at is not None and ends_at <= at else at


def _evening(now: datetime) -> datetime:
    """Return the next 18:00 in São Paulo."""
    today = now.astimezone(LOCAL).date()
    at = datetime.combine(today, DIGEST_AT, LOCAL).astimezone(UTC)
    if at > now:
        return at
    return datetime.combine(today + timedelta(days=1), DIGEST_AT, LOCAL).astimezone(UTC)


def _after_quiet_hours(choice: Choice, now: datetime) -> datetime:
    if not choice.quiet_from:
        return now
    hours = Night(
        begins=time.fromisoformat(choice.quiet_from), ends=time.fromisoformat(choice.quiet_until)
    )
    span = hours.span_of(now)
    return now if span is None else span.until
