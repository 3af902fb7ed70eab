"""Lists of payouts by how they stand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from gateway.domain import identity_errors
from gateway.domain.calls import Caller
from gateway.domain.errors import ServiceError
from gateway.domain.payout_status import PayoutSearch, status_of
from gateway.domain.payouts import Payout
from gateway.domain.stores import Payouts as PayoutStore
from gateway.domain.windows import Paging, Search, Window
from gateway.operations.payouts import PayoutPage

MOST = 20_000
"""Payouts that are looked through at once; more belong into several windows."""

_PAGE = 500


@dataclass(frozen=True, slots=True)
class PayoutLists:
    """Searches the payouts of an account (contract 4.3)."""

    store: PayoutStore
    most: int = MOST

    async def search(self, caller: Caller, wanted: PayoutSearch) -> PayoutPage:
        """
        Return a page of payouts, newest created first.

        Raises:
            ServiceError: ``NOT_POSSIBLE`` when a status is asked for and the
                window has more than ``most`` payouts.
            StoreUnavailable: as stores do.
        """
        account_id, search = caller.account.id, wanted.search
        if wanted.status is None:
            found, total = await self.store.search(account_id, search)
            return PayoutPage(payouts=found, paging=search.paging, total=total)
        chosen = [
            each
            async for each in self._all(account_id, search.window)
            if status_of(each.state) is wanted.status
        ]
        offset, limit = search.paging.offset, search.paging.limit
        page = chosen[offset : offset + limit]
        return PayoutPage(payouts=page, paging=search.paging, total=len(chosen))

    async def _all(self, account_id: str, window: Window) -> AsyncIterator[Payout]:
        """Walk a window; what moves to the next page meanwhile is told once."""
        seen: set[str] = set()
        page = 1
        while True:
            search = Search(window, Paging(page, _PAGE))
            found, total = await self.store.search(account_id, search)
            if total > self.most:
                raise _too_many(self.most)
            for each in found:
                if each.reference not in seen:
                    seen.add(each.reference)
                    yield each
            if len(found) < _PAGE:
                return
            page += 1


def _too_many(most: int) -> ServiceError:
    why = f"The window has more than {most} payouts: ask for fewer days, or for every status."
    return ServiceError(identity_errors.NOT_POSSIBLE, "too_many", detail=why)
