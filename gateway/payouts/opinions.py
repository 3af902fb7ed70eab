"""Reviews: what no proof can settle is decided by two people."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from gateway.core.money import Money
from gateway.core.user import same_name
from gateway.payouts.model import Payout, PayoutState


class Verdict(StrEnum):
    """What people may decide; each is a final state."""

    PAID = "paid"
    FAILED = "failed"

    @property
    def state(self) -> PayoutState:
        """The state it leads to."""
        return PayoutState(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """
    What one person found out about a payout in review.

    Attributes:
        moved: What the bank moved, where it paid; None if it did not.
        by: Who; the second opinion must be another person's.
        reason: How they know, for the auditors.
        attempt, state: Where the payout stood when it was judged. A withdrawn one is of no state
            and of attempt 0.
    """

    account_id: str
    reference: str
    verdict: Verdict
    reason: str
    by: str
    at: datetime
    attempt: int
    state: PayoutState | None
    moved: Money | None = None

    def agrees(self, other: Opinion, payout: Payout) -> bool:
        """Say whether both say the same of a payout, of the amount too."""
        mine, theirs = self.moved or payout.value, other.moved or payout.value
        return self.verdict is other.verdict and mine == theirs

    def is_about(self, payout: Payout) -> bool:
        """Say whether the payout still stands where this opinion judged it."""
        return (self.attempt, self.state) == (payout.attempt, payout.state)

    @property
    def is_withdrawn(self) -> bool:
        """Whether its person took it back: it stays on record and does not count."""
        return self.attempt == 0

    def withdrawn(self) -> Opinion:
        """Return it as it stays on record after its person took it back."""
        return replace(self, attempt=0, state=None)


def may_read(person: str, by: str, payout: Payout) -> bool:
    """
    Say whether a person may read what somebody said of a payout.

    Opinions are independent: while the review is open, everybody reads only their own.
    """
    return not payout.review or same_name(person) == by
