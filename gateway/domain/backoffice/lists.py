"""
Records as a caller of the back office finds them: within their company scope, in pages.

The store puts the scope into its WHERE. What lies outside of it is not there: it is not
found, not listed, and not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.domain.accounts.accounts import Account, Company
from gateway.domain.accounts.credentials import Credential
from gateway.domain.identity.users import User
from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Attempt, Payout
from gateway.domain.payouts.reviews import Opinion
from gateway.domain.payouts.stops import Stop


@dataclass(frozen=True, slots=True)
class OwnedAccount:
    """An account and its company; ``company`` is None where its record is missing."""

    account: Account
    company: Company | None


@dataclass(frozen=True, slots=True)
class UnresolvedPayout:
    """A payout whose outcome is not proven, with its tries and what people said, oldest first."""

    payout: Payout
    attempts: Sequence[Attempt]
    opinions: Sequence[Opinion]


class ScopedRecords(Protocol):
    """Look-ups, and pages of lists, oldest first, each with how many there are in all."""

    async def company(self, company_id: str, scope: CompanyScope) -> Company | None:
        """Return one company."""
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

    async def stop(self, stop_id: str, scope: CompanyScope, at: datetime) -> Stop | None:
        """Return one kill switch that holds at an instant; never a provider's to a limited one."""
        ...

    async def companies(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[Company], int]:
        """List companies."""
        ...

    async def accounts(
        self, paging: Paging, scope: CompanyScope, company_id: str | None
    ) -> tuple[Sequence[OwnedAccount], int]:
        """List accounts; ``company_id`` None is every company in scope."""
        ...

    async def credentials(
        self, paging: Paging, scope: CompanyScope, company_id: str | None
    ) -> tuple[Sequence[Credential], int]:
        """List credentials, also ended ones; ``company_id`` None is every company in scope."""
        ...

    async def users(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[User], int]:
        """List the users who see no company beyond the scope."""
        ...

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these users last signed in, as far as it is on record."""
        ...

    async def stops(
        self, paging: Paging, scope: CompanyScope, at: datetime
    ) -> tuple[Sequence[Stop], int]:
        """List the kill switches that hold at an instant; a provider's concerns everybody."""
        ...

    async def reviews(self, paging: Paging, scope: CompanyScope) -> tuple[Sequence[Payout], int]:
        """List the payouts in review."""
        ...

    async def unresolved(
        self, paging: Paging, scope: CompanyScope
    ) -> tuple[Sequence[UnresolvedPayout], int]:
        """List the payouts that are unknown or in review, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSearch:
    """
    Which acts; None for all.

    Texts match whole, or what begins so where they end in ``*``; a trace id
    matches whole.
    """

    paging: Paging
    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act on record: its place in the chain, what it was, and its hash."""

    number: int
    event: AuditEvent
    hash: bytes


class AuditRecord(Protocol):
    """The record of acts, for reading."""

    async def find_acts(
        self, search: AuditSearch, scope: CompanyScope
    ) -> tuple[Sequence[AuditEntry], int]:
        """
        Return a page, newest first, and how many there are.

        A limited scope leaves the acts of one of its companies, or of exactly all of them.
        """
        ...

    async def after(self, number: int, most: int, scope: CompanyScope) -> Sequence[AuditEntry]:
        """Return what follows ``number``, in the order of the chain; ``scope`` as above."""
        ...

    async def verify(self) -> int:
        """Walk the chain; return its length. ValueError names the first broken link."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """
    One served request, as the access line tells it.

    Attributes:
        line: The whole line as JSON; what may stand there is decided by the log.
    """

    at: datetime
    trace_id: str
    surface: str
    route: str
    status: int
    code: str
    client_id: str
    user_id: str
    company_id: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSearch:
    """Which requests; None for all."""

    paging: Paging
    since: datetime
    until: datetime
    trace_id: str | None = None
    route: str | None = None
    status: int | None = None
    client_id: str | None = None
    user_id: str | None = None


class RequestLog(Protocol):
    """Served requests."""

    async def add(self, requests: Sequence[LoggedRequest]) -> None:
        """Store some."""
        ...

    async def search(
        self, search: RequestSearch, scope: CompanyScope
    ) -> tuple[Sequence[LoggedRequest], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what is older; return how many."""
        ...
