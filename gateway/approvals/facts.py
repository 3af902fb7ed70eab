"""What helps to decide on an order of money: payouts alike, the balance, other orders that wait."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from msgspec import UNSET

from gateway.approvals.money import Order
from gateway.approvals.store import StoredApprovals
from gateway.banks.model import Reading
from gateway.banks.readings import Readings
from gateway.core.access import Staff
from gateway.core.approvals import Approval, WaitingMoney
from gateway.core.money import Sum
from gateway.payouts.documents import PayoutsAlike
from gateway.payouts.model import PayoutRequest
from gateway.payouts.staff import PayoutRecords


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """
    What is known around an order.

    Attributes:
        alike: Of an order that is no payout, none.
        reading: What the account held when its bank answered last; None where it is not asked.
        waiting: The other orders of money of the account that wait.
    """

    alike: PayoutsAlike = field(default_factory=PayoutsAlike)
    reading: Reading | None = None
    waiting: WaitingMoney = field(default_factory=WaitingMoney)

    def left(self, value: Sum) -> Sum | None:
        """Return what an order leaves once all that wait are paid; None with no balance read."""
        if self.reading is None or self.reading.balance is UNSET:
            return None
        blocked = 0 if self.reading.blocked is UNSET else self.reading.blocked.centavos
        leaves = blocked + value.centavos + self.waiting.value.centavos
        return Sum(self.reading.balance.centavos - leaves)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """Finds them within the companies that a person sees; raises as stores do."""

    payouts: PayoutRecords
    readings: Readings
    orders: StoredApprovals

    async def of(self, who: Staff, approval: Approval, order: Order) -> DecisionFacts:
        """Return what is known, from the store alone; the bank is asked meanwhile."""
        reading = await self.readings.of(who.scope, approval.account_id or "")
        return replace(await self._around(who, approval, order), reading=reading)

    async def now_of(self, who: Staff, approval: Approval, order: Order) -> DecisionFacts:
        """Ask the bank for the balance first, for some seconds; then as ``of``."""
        reading = await self.readings.now_of(who.scope, approval.account_id or "")
        return replace(await self._around(who, approval, order), reading=reading)

    async def _around(self, who: Staff, approval: Approval, order: Order) -> DecisionFacts:
        account_id, now = approval.account_id or "", who.acting.now()
        waiting = await self.orders.waiting_money(account_id, now, without=approval.id)
        if not isinstance(order, PayoutRequest):
            return DecisionFacts(waiting=waiting)
        return DecisionFacts(await self.payouts.alike(who, account_id, order), waiting=waiting)
