"""What helps to decide on an order of money: payouts alike, and what the account held."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.approvals.model import Approval
from gateway.approvals.money import Order
from gateway.banks.model import Reading
from gateway.banks.readings import Readings
from gateway.core.access import Staff
from gateway.domain.payouts.payouts import PayoutRequest
from gateway.payouts.model import PayoutsAlike
from gateway.payouts.service import PayoutRecords


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """
    What is known around an order, from the store alone.

    Attributes:
        alike: Of an order that is no payout, none.
        reading: What the account held when its bank answered last; None where it is not asked.
    """

    alike: PayoutsAlike = field(default_factory=PayoutsAlike)
    reading: Reading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """Finds them within the companies that a person sees; raises as stores do."""

    payouts: PayoutRecords
    readings: Readings

    async def of(self, who: Staff, approval: Approval, order: Order) -> DecisionFacts:
        """Return what is known; payouts alike are told of payouts, the reading of any money."""
        account_id = approval.account_id or ""
        reading = await self.readings.of(who.scope, account_id)
        if not isinstance(order, PayoutRequest):
            return DecisionFacts(reading=reading)
        return DecisionFacts(await self.payouts.alike(who, account_id, order), reading)
