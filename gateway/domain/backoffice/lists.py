"""
Records as a caller of the back office finds them: within their company scope, in pages.

The store puts the scope into its WHERE. What lies outside of it is not there: it is not
found, not listed, and not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol

from gateway.domain.accounts.accounts import Account
from gateway.domain.accounts.credentials import Action, Credential, Permission, Resource
from gateway.domain.identity.users import User
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Attempt, Payout
from gateway.domain.payouts.reviews import Opinion


@dataclass(frozen=True, slots=True)
class UnresolvedPayout:
    """
    A payout whose outcome is not proven.

    Attributes:
        attempts, opinions: Oldest first; only opinions on the review as it is now.
    """

    payout: Payout
    account_name: str
    attempts: Sequence[Attempt]
    opinions: Sequence[Opinion]


class CredentialState(StrEnum):
    """Whether a credential still opens anything; ``care`` is live and asks for a look."""

    LIVE = "live"
    ENDED = "ended"
    CARE = "care"


EXPIRES_SOON: Final = timedelta(days=30)
"""Long enough to give a partner's people a new secret before the old one ends."""

LONG_UNUSED: Final = timedelta(days=90)
"""A quarter: what runs once a month has run by then."""


class Care(StrEnum):
    """Why a live credential asks for a look, the most urgent first."""

    EXPIRES_SOON = "expires_soon"
    PAYS_UNUSED = "pays_unused"
    WIDE_FOR_EVER = "wide_for_ever"


_PAYING: Final = Permission(Resource.WITHDRAW, Action.WRITE)


def care_of(credential: Credential, now: datetime) -> Care | None:
    """Say why one asks for a look; None for one that does not, or has ended."""
    ends = credential.expires_at
    if credential.revoked_at is not None or (ends is not None and ends <= now):
        return None
    if ends is not None and ends <= now + EXPIRES_SOON:
        return Care.EXPIRES_SOON
    used = [each.last_used_at for each in credential.secrets if each.last_used_at]
    since = max(used, default=credential.created_at)
    if since <= now - LONG_UNUSED and any(held.covers(_PAYING) for held in credential.permissions):
        return Care.PAYS_UNUSED
    return Care.WIDE_FOR_EVER if ends is None and credential.account_id is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSearch:
    """
    Which credentials.

    Attributes:
        company_id: None is every company in scope.
        state: None is all, at the instant ``now``.
        text: In the name, or how the client id begins; None is any.
    """

    paging: Paging
    now: datetime
    company_id: str | None = None
    state: CredentialState | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CredentialCounts:
    """How many credentials are live, how many of these ask for a look, how many have ended."""

    live: int
    care: int
    ended: int


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

    async def credentials(
        self, search: CredentialSearch, scope: CompanyScope
    ) -> tuple[Sequence[Credential], int]:
        """List credentials."""
        ...

    async def count_credentials(
        self, search: CredentialSearch, scope: CompanyScope
    ) -> CredentialCounts:
        """Count those of each state; the search's own state and page do not matter."""
        ...

    async def users(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[User], int]:
        """List the users who see no company beyond the scope."""
        ...

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these users last signed in, as far as it is on record."""
        ...

    async def reviews(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[Payout], int]:
        """List the payouts in review."""
        ...

    async def unresolved(
        self, paging: Paging, scope: CompanyScope
    ) -> tuple[Sequence[UnresolvedPayout], int]:
        """List the payouts that are unknown or in review, oldest first."""
        ...

    async def accounts_among(self, ids: Collection[str], scope: CompanyScope) -> Sequence[Account]:
        """Return those of these accounts that there are; in no order."""
        ...

    async def attempts_of(self, trace_id: str, scope: CompanyScope) -> Sequence[TracedAttempt]:
        """Return the tries to pay that were made under a trace id, oldest first."""
        ...
