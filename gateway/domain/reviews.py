"""Reviews: what no proof can settle is decided by two people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.domain.payouts import PayoutState


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
        by: Who; the second opinion must be another person's.
        reason: How they know, for the auditors.
    """

    account_id: str
    reference: str
    verdict: Verdict
    reason: str
    by: str
    at: datetime
