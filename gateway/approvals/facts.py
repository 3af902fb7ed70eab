"""Facts for deciding on an order of money: similar payouts, the balance, other waiting orders."""

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
    Facts around an order.

    Attributes:
        alike: Similar payouts; empty for an order that is not a single payout. The user who
            ordered it sees none to its recipient: orders for one CPF after another would complete
            a hidden one.
        reading: The account's balance as last read; None where the bank is not queried.
        waiting: The account's other waiting orders of money.
    """

    alike: PayoutsAlike = field(default_factory=PayoutsAlike)
    reading: Reading | None = None
    waiting: WaitingMoney = field(default_factory=WaitingMoney)

    def left(self, value: Sum) -> Sum | None:
        """Return the balance after all waiting orders are paid; None without a balance."""
        if self.reading is None or self.reading.balance is UNSET:
            return None
        blocked = 0 if self.reading.blocked is UNSET else self.reading.blocked.centavos
        leaves = blocked + value.centavos + self.waiting.value.centavos
        return Sum(self.reading.balance.centavos - leaves)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """Finds facts within a user's companies; raises as stores do."""

    payouts: PayoutRecords
    readings: Readings
    orders: StoredApprovals

    async def of(self, who: Staff, approval: Approval, order: Order | None) -> DecisionFacts:
        """Return the facts from the store alone; the bank is queried meanwhile."""
        reading = await self.readings.of(who.scope, approval.account_id or "")
        return replace(await self._around(who, approval, order), reading=reading)

    async def now_of(self, who: Staff, approval: Approval, order: Order | None) -> DecisionFacts:
        """Query the balance at the bank first, for some seconds; then as ``of``."""
        reading = await self.readings.now_of(who.scope, approval.account_id or "")
        return replace(await self._around(who, approval, order), reading=reading)

    async def _around(self, who: Staff, approval: Approval, order: Order | None) -> DecisionFacts:
        account_id, now = approval.account_id or "", who.acting.now()
        waiting = await self.orders.waiting_money(account_id, now, without=approval.id)
        if not isinstance(order, PayoutRequest):
            return DecisionFacts(waiting=waiting)
        found = await self.payouts.alike(who, account_id, order)
        if who.person is not None and approval.ordered_by == who.person.user_id:
            found = replace(found, to_recipient=())
        return DecisionFacts(found, waiting=waiting)
