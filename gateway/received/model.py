"""Progress of an account's walk for payments, and the part to read next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.core.account import Account
from gateway.core.windows import Window, local_end, local_start, local_time
from gateway.events.model import FEED_KEPT

_OVERLAP: Final = timedelta(minutes=15)
"""A bank may show a payment some minutes after the instant that it carries."""
_LATE: Final = timedelta(hours=6)
"""And some much later; the first walk of each hour looks for those."""
_CLOCKS_APART: Final = timedelta(minutes=5)
"""How far a bank's clock may be behind ours."""
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """
    The walk of an account.

    Attributes:
        begun_at: When its feed was first read; earlier payments are not looked for.
        until: All payments before this instant were looked for.
    """

    account: Account
    begun_at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Stretch:
    """
    What is read of an account at once.

    Attributes:
        since: Movements that are certainly older are passed over.
        days: UTC days, two at most: so a walk that was not made for weeks comes nearer each time.
            They begin with the local day, at whose first instant movements without a time stand.
        until: How far the account is walked after it.
    """

    since: datetime
    days: Window
    until: datetime


def next_stretch(walk: Walk, now: datetime) -> Stretch:
    """Return the stretch behind what was walked, with an overlap for payments that come late."""
    is_first_of_hour = _hour(walk.until) != _hour(now)
    overlap = _LATE if is_first_of_hour else _OVERLAP
    # Older payments are not told; see FEED_KEPT. A clock that was put back is no reason to fail.
    oldest = max(walk.begun_at - _CLOCKS_APART, now - FEED_KEPT)
    since = min(max(walk.until - overlap, oldest), now)
    first = local_start(local_time(since).date()).date()
    days = Window(first, min(first + _DAY, now.date()))
    return Stretch(since, days, min(days.end, now))


def latest(at: datetime) -> datetime:
    """
    Return the latest instant that a movement may be of.

    A bank that tells days alone gives the first instant of the day, in the time of Brasilia.
    """
    day = local_time(at).date()
    return local_end(day) if at == local_start(day) else at


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
