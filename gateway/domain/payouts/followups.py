"""Unsettled payouts: when each is looked at again, and the port that shares this work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from gateway.domain.payouts.payouts import Payout, PayoutState

FIRST_CHECK: Final = timedelta(seconds=2)
"""PIX settles in seconds, so the first look comes that soon."""

# A bank that decides early tells by callback, and whoever reads the payout asks it too.
_HELD_EVERY: Final = timedelta(minutes=5)


def held_check(held_until: datetime, now: datetime) -> datetime:
    """Return when to look again while a payout is held: now and then, and behind the deadline."""
    return min(now + _HELD_EVERY, held_until + FIRST_CHECK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """
    A look at an unsettled payout that is over.

    Attributes:
        owner: Who claimed it; a claim that was taken over is left alone.
        attempt, state: Where it stood after the look; one that has moved on
            since keeps its own schedule.
        next_check_at: When to look again; None never.
        review: No proof can be had any more: a person decides.
        held_until: The bank's deadline as it told it last; None when it holds nothing.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """
    How a provider's payouts stand.

    Attributes:
        unresolved: Payouts whose outcome is not known.
        oldest_at: When the oldest of them was created; None when there is none.
        review: Payouts in review.
    """

    provider: str
    unresolved: int
    oldest_at: datetime | None
    review: int


class FollowUps(Protocol):
    """Payouts that must be looked at again; any number of processes may share the work."""

    async def claim_due(self, owner: str, now: datetime, until: datetime) -> Sequence[Payout]:
        """Claim what is due and free, at most fifty; the claims end at ``until``."""
        ...

    async def checked(self, checked: Checked) -> bool:
        """Note a look and let the claim go; False when it was somebody else's by then."""
        ...

    async def unresolved(self) -> Sequence[Payout]:
        """Return every payout whose outcome is not known or that waits for a person."""
        ...

    async def find_by_key(self, provider_key: str) -> Payout | None:
        """Return the one a bank knows by this key."""
        ...

    async def standing(self) -> Sequence[Unsettled]:
        """Count what is unsettled, by provider."""
        ...
