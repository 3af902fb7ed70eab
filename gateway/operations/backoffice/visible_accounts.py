"""The accounts in a caller's company scope, each with the company that owns it."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts.accounts import Account, Companies
from gateway.domain.backoffice.lists import OwnedAccount, ScopedRecords
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.operations.bank.pages import Listed


@dataclass(frozen=True, slots=True)
class AccountSearch:
    """Which accounts; ``company_id`` None is every company in scope."""

    paging: Paging
    company_id: str | None = None


@dataclass(frozen=True, slots=True)
class VisibleAccounts:
    """Reads accounts (contract 2.10, 4.3); every call raises ``StoreUnavailable`` as stores do."""

    records: ScopedRecords
    companies: Companies

    async def search(self, scope: CompanyScope, wanted: AccountSearch) -> Listed[OwnedAccount]:
        """Return a page of those in scope, oldest first; none of an unknown company."""
        items, total = await self.records.accounts(wanted.paging, scope, wanted.company_id)
        return Listed(items=items, paging=wanted.paging, total=total)

    async def read(self, account: Account, _taken: None) -> OwnedAccount:
        """Return the account that the policies found, with its company."""
        return OwnedAccount(account, await self.companies.find(account.company_id))
