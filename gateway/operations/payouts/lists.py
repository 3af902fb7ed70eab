"""Lists of payouts by status."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.payouts.payouts import Payouts as PayoutStore
from gateway.domain.payouts.status import PayoutSearch, states_of
from gateway.domain.requests.calls import Caller
from gateway.operations.payouts.payouts import PayoutPage


@dataclass(frozen=True, slots=True)
class PayoutLists:
    """Searches the payouts of an account (contract 4.3)."""

    store: PayoutStore

    async def search(self, caller: Caller, wanted: PayoutSearch) -> PayoutPage:
        """
        Return a page of payouts, newest created first.

        Raises:
            StoreUnavailable: as stores do.
        """
        states = () if wanted.status is None else states_of(wanted.status)
        found, total = await self.store.search(caller.account.id, wanted.search, states)
        return PayoutPage(payouts=found, paging=wanted.search.paging, total=total)
