"""Schedule of checks of unsettled payouts, and the claims that divide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from gateway.payouts.events import PayoutEvent
from gateway.payouts.model import FINAL_STATES, Payout, PayoutState

FIRST_CHECK: Final = timedelta(seconds=2)
"""PIX settles in seconds, so the first look comes that soon."""

PROBE_EVERY: Final = timedelta(seconds=5)
"""A person who asks again sooner learns nothing, and the bank counts every question."""

CLAIM: Final = timedelta(seconds=60)
"""A process that dies leaves its payouts to the others after this time."""

# The clocks of several machines agree to within seconds. What lies further ahead than this was
# written before a clock was put back, and would be waited for until the clock is there again.
ENDS_AHEAD: Final = CLAIM * 2
"""A claim that ends later than that from now holds nothing."""
CHANGED_AHEAD: Final = timedelta(minutes=1)
"""No payout has changed later than that from now."""
PLANNED_AHEAD: Final = timedelta(minutes=75)
"""No look at a bank is planned later than that from now: they are an hour and a tenth apart."""

CORRECTED: Final = timedelta(seconds=5)
"""A clock that is only corrected goes back by less; then nothing is late by more either."""
MOST_ACCOUNTS: Final = 16
"""Accounts of one claim, which is one statement with a part for each."""
MOST_COUNTED: Final = 10_000
"""Enough to see a backlog grow; a longer one is not walked for the sake of a figure."""

_FIRST_S: Final = (2, 5, 15, 60, 300, 900)
_HOUR: Final = timedelta(hours=1)
# Looks go on hourly for more than a day, whatever the bank's hours; then two users decide.
_GIVES_UP: Final = timedelta(hours=26)
# How often a payout is looked at whose last step is in the future, for the clock was put back.
_PUT_BACK: Final = timedelta(minutes=1)
# Spreads the hourly looks of payouts that became unknown at one moment.
_JITTER: Final = 0.1
# A bank that decides early tells by callback, and whoever reads the payout asks it too.
_HELD_EVERY: Final = timedelta(minutes=5)


def next_check(payout: Payout, now: datetime, chance: float) -> datetime | None:
    """
    Return the next check: soon at first, then hourly, after 26 hours never.

    Counted from when the payout came to where it stands, so that nothing has
    to remember how often it was looked at. One that its bank holds is looked at
    every few minutes until the bank's deadline, and from then on as usual.

    Args:
        payout: As it stands after a look.
        now: The instant of the look.
        chance: From 0 up to 1; spreads the hourly looks by a tenth.
    """
    if payout.state is PayoutState.SENDING:
        return payout.lease_until
    if payout.state is PayoutState.HELD:
        # What is due and could not be sent, for the store was away, is tried again soon.
        return max(payout.held_until or now, now + FIRST_CHECK)
    if payout.state is PayoutState.NOT_SENT:
        return end_of_day(payout.date)
    if payout.state in FINAL_STATES or now - payout.updated_at >= _GIVES_UP:
        return None
    if payout.updated_at > now + CORRECTED:
        return now + _PUT_BACK
    return _again(payout, now, chance)


def end_of_day(day: date) -> datetime:
    """Return the midnight that ends a UTC day."""
    return datetime.combine(day, time(), UTC) + timedelta(days=1)


def _again(payout: Payout, now: datetime, chance: float) -> datetime:
    """Return the next check of a payout that is with the bank."""
    due = payout.updated_at
    if payout.held_until is not None and payout.state is PayoutState.ACCEPTED:
        if now < payout.held_until:
            return held_check(payout.held_until, now)
        due = max(due, payout.held_until)
    for step_s in _FIRST_S:
        due += timedelta(seconds=step_s)
        if due > now:
            return due
    return now + _HOUR * (1 + _JITTER * (2 * chance - 1))


def held_check(held_until: datetime, now: datetime) -> datetime:
    """Return the next check of a held payout: now and then, and after the deadline."""
    return min(now + _HELD_EVERY, held_until + FIRST_CHECK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """
    A completed check of an unsettled payout.

    Attributes:
        owner: Who claimed it; a claim that was taken over is left alone.
        attempt, state: Where it stood after the look; one that has moved on
            since keeps its own schedule.
        next_check_at: When to look again; None never.
        review: No proof can be had any more: a person decides.
        held_until: The bank's latest deadline; None without a hold.
        heard: The bank's answer, where it changed nothing: a step has an event of its own.
    """

    account_id: str
    reference: str
    attempt: int
    state: PayoutState
    owner: str
    at: datetime
    next_check_at: datetime | None
    review: bool
    held_until: datetime | None = None
    heard: PayoutEvent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueAccount:
    """
    An account with due and unclaimed payouts at a bank.

    Attributes:
        due_at: Since when the oldest of them is due.
    """

    provider: str
    account_id: str
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueClaim:
    """
    A claim of due payouts at one bank; several processes may make the same claim.

    Attributes:
        at: Payouts due by this instant are claimed.
        until: When the claim ends by itself.
        account_ids: The accounts, ``MOST_ACCOUNTS`` at most.
        each: Payouts of one account, at most: so one that has very many leaves room for others.
        most: Payouts of all of them together, at most.
    """

    provider: str
    owner: str
    at: datetime
    until: datetime
    account_ids: Sequence[str]
    each: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeClaim:
    """
    A query of one payout now, before its schedule.

    Attributes:
        until: When the claim ends by itself.
        quiet_since: Refused if it was looked at later than this.
    """

    account_id: str
    reference: str
    owner: str
    at: datetime
    until: datetime
    quiet_since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """
    Due payouts of one provider.

    Attributes:
        waiting: Number of payouts; ``MOST_COUNTED`` of all providers at most.
        oldest_at: Since when the first of them waits.
    """

    provider: str
    waiting: int
    oldest_at: datetime
