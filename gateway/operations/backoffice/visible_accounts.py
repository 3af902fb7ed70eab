"""The accounts that a person is shown, each with the company that owns it."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts.accounts import Account, Accounts, Companies, Company
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.kernel.windows import Paging
from gateway.operations.bank.pages import Listed, listed


@dataclass(frozen=True, slots=True)
class OwnedAccount:
    """An account and its owner; ``company`` is None where its record is missing."""

    account: Account
    company: Company | None


@dataclass(frozen=True, slots=True)
class AccountSearch:
    """Which accounts; ``company_id`` None is every company's."""

    paging: Paging
    company_id: str | None = None


@dataclass(frozen=True, slots=True)
class VisibleAccounts:
    """Reads accounts (contract 2.10, 4.3); every call raises ``StoreUnavailable`` as stores do."""

    accounts: Accounts
    companies: Companies

    async def search(self, person: SignedInUser, wanted: AccountSearch) -> Listed[OwnedAccount]:
        """Return a page of those shown to a person, oldest first; none of a company unknown."""
        companies = {company.id: company for company in await self.companies.list()}
        found = [
            OwnedAccount(account, companies.get(account.company_id))
            for account in await self.accounts.list(wanted.company_id)
            if person.sees(account.company_id)
        ]
        return listed(found, wanted.paging)

    async def read(self, account: Account, _taken: None) -> OwnedAccount:
        """Return an account that was let through, with its owner."""
        return OwnedAccount(account, await self.companies.find(account.company_id))
