"""When a notification is sent, by the person's choice and São Paulo's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gateway.notifications.model import Choice, Kind, Occasion
from gateway.notifications.schedule import after_others, due_at

EVENING = Choice(at_once=(), digest=(Kind.ORDER,))
NEVER_QUIET = Choice(quiet_from="", quiet_until="")
LATE = Choice(quiet_from="23:30", quiet_until="05:00")


def order(**changed: object) -> Occasion:
    plain = {"kind": Kind.ORDER, "subject": "a1", "link": "/panel/approvals/a1"}
    return Occasion(**{**plain, **changed})  # type: ignore[arg-type]


def local(day: int, hour: int, minute: int = 0) -> datetime:
    """Return an instant of November 2026 by its time in São Paulo, three hours behind UTC."""
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC) + timedelta(hours=3)


@pytest.mark.parametrize(
    ("choice", "now", "due"),
    [
        (Choice(), local(20, 8), local(20, 8)),
        (Choice(), local(20, 19, 59), local(20, 19, 59)),
        (Choice(), local(20, 20), local(21, 8)),
        (Choice(), local(21, 7, 59), local(21, 8)),
        (NEVER_QUIET, local(20, 23), local(20, 23)),
        (LATE, local(20, 23), local(20, 23)),
        (LATE, local(20, 23, 30), local(21, 5)),
        (EVENING, local(20, 9), local(20, 18)),
        (EVENING, local(20, 18), local(21, 18)),
        (EVENING, local(20, 23), local(21, 18)),
    ],
)
def test_occasions_that_are_not_urgent_wait_for_the_morning_or_the_evening(
    choice: Choice, now: datetime, due: datetime
):
    assert due_at(order(), choice, now) == due


@pytest.mark.parametrize(
    ("last", "sent"),
    [
        (None, 0),
        (-60, 0),
        (-59, 1),
        (0, 60),
        (20, 20),
        (60, 60),
        (61, 0),
    ],
)
def test_occasions_within_a_minute_of_a_message_wait_for_its_end(last: int | None, sent: int):
    now, second = local(20, 9), timedelta(seconds=1)
    told = None if last is None else now + last * second

    assert after_others(now, None, now, told) == now + sent * second
    assert after_others(now, now + sent * second, now, told) == now
    assert after_others(local(20, 18), None, now, told) == local(20, 18)


@pytest.mark.parametrize("choice", [Choice(), EVENING])
def test_urgent_occasions_are_notified_at_once(choice: Choice):
    now = local(20, 23)

    assert due_at(order(is_urgent=True), choice, now) == now


@pytest.mark.parametrize(
    ("choice", "told_at"), [(Choice(), local(21, 8)), (EVENING, local(21, 18))]
)
def test_an_order_that_ends_before_its_notification_is_due_is_notified_at_once(
    choice: Choice, told_at: datetime
):
    now = local(20, 21)

    assert due_at(order(ends_at=told_at), choice, now) == now
    assert due_at(order(ends_at=told_at + timedelta(seconds=1)), choice, now) == told_at
