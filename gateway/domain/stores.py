"""
The ports to storage.

Every method raises ``StoreUnavailable`` when the store cannot answer; for a
write that means that it was not done or that nobody can tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gateway.domain.accounts import Account, Company, Credential, SecretDigest
from gateway.domain.payouts import Failure, Payout, PayoutState
from gateway.domain.providers import Evidence
from gateway.domain.windows import Search


class StoreUnavailable(Exception):
    """The store did not answer, or answered that it cannot."""


class AlreadyExists(Exception):
    """A thing of that key is stored already; nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """
    An act worth remembering for years; stored in the transaction it describes.

    Attributes:
        actor: Who did it: a person, ``cli`` or ``system``.
        action: A fixed word such as ``credential.issued``.
        subject: What it was done to: a kind and an id, ``account:<uuid>``.
        details: Flat texts; never a secret.
    """

    at: datetime
    actor: str
    action: str
    subject: str
    details: Mapping[str, str] = field(default_factory=dict)
    trace_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    One try to move money, as stored.

    Attributes:
        number: From 1.
        send_deadline: Nothing of it is sent after this instant.
        outcome: The state it led to; None while it runs.
        evidence: What is known of the call; None while it runs.
    """

    number: int
    provider: str
    started_at: datetime
    send_deadline: datetime
    lease_until: datetime
    trace_id: str
    outcome: PayoutState | None = None
    evidence: Evidence | None = None
    ended_at: datetime | None = None
    last_probe_at: datetime | None = None
    next_probe_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    A step of a payout, done only if it still stands where we believe.

    Attributes:
        attempt, before: What must still hold; the step is lost otherwise.
        after: The new state.
        evidence: Kept with the attempt; None leaves what is there.
        provider_id, e2e_id: Empty ones leave what is there.
    """

    account_id: str
    reference: str
    attempt: int
    before: frozenset[PayoutState]
    after: PayoutState
    at: datetime
    evidence: Evidence | None = None
    provider_id: str = ""
    e2e_id: str = ""
    failure: Failure | None = None
    settled_at: datetime | None = None


class Companies(Protocol):
    """Owners of accounts."""

    async def add(self, company: Company, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id is taken."""
        ...

    async def find(self, company_id: str) -> Company | None:
        """Return one by id."""
        ...

    async def list(self) -> Sequence[Company]:
        """Return all, oldest first."""
        ...


class Accounts(Protocol):
    """Accounts by id."""

    async def find(self, account_id: str) -> Account | None:
        """Return one by its lower-case id."""
        ...

    async def add(self, account: Account, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id is taken."""
        ...

    async def replace(self, account: Account, event: AuditEvent) -> bool:
        """Overwrite one; False when there is none."""
        ...

    async def list(self, company_id: str | None = None) -> Sequence[Account]:
        """Return all, or those of one company, oldest first."""
        ...


class Credentials(Protocol):
    """Credentials by client id."""

    async def find(self, client_id: str) -> Credential | None:
        """Return one by its exact id, revoked and expired ones included."""
        ...

    async def add(self, credential: Credential, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id is taken."""
        ...

    async def rotate(
        self, client_id: str, new: SecretDigest, old_ends: datetime, event: AuditEvent
    ) -> bool:
        """Make ``new`` current, end the current one at ``old_ends``, drop older; False: none."""
        ...

    async def revoke(self, client_id: str, at: datetime, event: AuditEvent) -> bool:
        """End one now; False when there is none or it has ended already."""
        ...

    async def list(self, company_id: str | None = None) -> Sequence[Credential]:
        """Return all, or those of one company, oldest first."""
        ...

    async def touch(self, client_id: str, digest: bytes, at: datetime) -> None:
        """Remember that a secret was used."""
        ...


class Payouts(Protocol):
    """Payouts by account and reference; rows are never deleted."""

    async def add(self, payout: Payout, attempt: Attempt) -> Payout | None:
        """
        Store the intent by one atomic insert.

        Returns:
            None when it is ours now; else the row that was there first.
        """
        ...

    async def claim(self, payout: Payout, attempt: Attempt) -> bool:
        """Move NOT_SENT to SENDING with the next attempt; False when somebody else did."""
        ...

    async def record(self, change: Change) -> bool:
        """Do a step by compare-and-set; False when the row stood elsewhere."""
        ...

    async def find(self, account_id: str, reference: str) -> Payout | None:
        """Return one."""
        ...

    async def search(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        """Return a page, newest created first, and how many lie in the window."""
        ...

    async def attempts(self, account_id: str, reference: str) -> Sequence[Attempt]:
        """Return every try, oldest first."""
        ...


class Audit(Protocol):
    """The append-only, hash-chained record of acts."""

    async def append(self, event: AuditEvent) -> None:
        """Add one event."""
        ...

    async def verify(self) -> int:
        """Walk the chain; return its length. ValueError names the first broken link."""
        ...
