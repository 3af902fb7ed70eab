"""
Records as a caller of the back office finds them: within their company scope, in pages.

The store puts the scope into its WHERE. What lies outside of it is not there: it is not
found, not listed, and not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.credentials.model import Credential
from gateway.domain.accounts.accounts import Account
from gateway.domain.identity.users import User
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Attempt, Payout


@dataclass(frozen=True, slots=True)
class TracedAttempt:
    """A try to pay that was made under a trace id, and its payout."""

    payout: Payout
    attempt: Attempt


class ScopedRecords(Protocol):
    """Look-ups, and pages of lists, oldest first, each with how many there are in all."""

    async def company_name(self, company_id: str, scope: CompanyScope) -> str:
        """Return what a company is called; empty where it has no record."""
        ...

    async def account(self, account_id: str, scope: CompanyScope) -> Account | None:
        """Return one account by its lower-case id."""
        ...

    async def credential(self, client_id: str, scope: CompanyScope) -> Credential | None:
        """Return one credential, also one that has ended."""
        ...

    async def user(self, user_id: str, scope: CompanyScope) -> User | None:
        """Return one user by id or e-mail: one who sees no company beyond the scope."""
        ...

    async def users(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[User], int]:
        """List the users who see no company beyond the scope."""
        ...

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these users last signed in, as far as it is on record."""
        ...

    async def accounts_among(self, ids: Collection[str], scope: CompanyScope) -> Sequence[Account]:
        """Return those of these accounts that there are; in no order."""
        ...

    async def attempts_of(self, trace_id: str, scope: CompanyScope) -> Sequence[TracedAttempt]:
        """Return the tries to pay that were made under a trace id, oldest first."""
        ...
