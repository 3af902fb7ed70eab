"""What helps to decide on an order of money: payouts alike, and what the account held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from gateway.approvals.model import Approval
from gateway.approvals.money import Order
from gateway.banks.model import Reading
from gateway.banks.readings import Readings
from gateway.domain.backoffice.payout_search import FoundPayout, PayoutFilter, PayoutQuery
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.payouts.payouts import PayoutRequest
from gateway.operations.backoffice.payout_finder import PayoutFinder

RECIPIENT_DAYS: Final = 30
"""How far back payouts to the same recipient are told: a month of salaries and rents."""
_SHOWN: Final = 10
"""Of one value in one day: more say no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionFacts:
    """
    What is known around an order, from the store alone.

    Attributes:
        to_recipient: Payouts to the same tax number of the last ``RECIPIENT_DAYS``, newest first;
            at most as many as a search shows.
        same_value: Payouts of the same value of the account today, in local days.
        reading: What the account held when its bank answered last; None where it is not asked.
    """

    to_recipient: Sequence[FoundPayout] = field(default_factory=list)
    same_value: Sequence[FoundPayout] = field(default_factory=list)
    reading: Reading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFacts:
    """Finds them within the companies that a person sees; raises as stores do."""

    finder: PayoutFinder
    readings: Readings

    async def of(self, scope: CompanyScope, approval: Approval, order: Order) -> DecisionFacts:
        """Return what is known; payouts alike are told of payouts, the reading of any money."""
        reading = await self.readings.of(scope, approval.account_id or "")
        if not isinstance(order, PayoutRequest):
            return DecisionFacts(reading=reading)
        found = await self.finder.find(scope, order.destination.tax_number)
        since = self.finder.now() - timedelta(days=RECIPIENT_DAYS)
        wanted = PayoutFilter(
            account_id=approval.account_id, least=approval.value, most=approval.value
        )
        query = PayoutQuery(wanted=wanted, limit=_SHOWN, days=1)
        same = await self.finder.directory.page(self.finder.dated(query), scope)
        return DecisionFacts(
            to_recipient=[
                each for each in _others(approval, found.payouts) if each.payout.created_at >= since
            ],
            same_value=_others(approval, same.payouts),
            reading=reading,
        )


def _others(approval: Approval, found: Sequence[FoundPayout]) -> Sequence[FoundPayout]:
    """Leave out the payout that the order itself has made."""
    itself = (approval.account_id, approval.reference)
    return [each for each in found if (each.payout.account_id, each.payout.reference) != itself]
