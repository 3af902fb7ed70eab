"""
The ports to storage.

Every method raises ``StoreUnavailable`` when the store cannot answer; for a
write that means that it was not done or that nobody can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from gateway.domain.accounts import (
    Account,
    Company,
    Credential,
    CredentialLimits,
)
from gateway.domain.approvals import Rotation, SecretCollection
from gateway.domain.payouts import Failure, Payout, PayoutState
from gateway.domain.providers import Evidence
from gateway.domain.reviews import Opinion
from gateway.domain.stops import Stop
from gateway.domain.windows import Search


class StoreUnavailable(Exception):
    """The store did not answer, or answered that it cannot."""


class AlreadyExists(Exception):
    """A thing of that key is stored already; nothing was changed."""


class NothingToCollect(Exception):
    """The secret of an order was fetched already, or its time is over; nothing was changed."""


class BankAccountTaken(AlreadyExists):
    """The bank's account stands behind an account of another company; nothing was changed."""


class LimitReached(Exception):
    """A payout is above a limit of its credential; nothing was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """
    An act worth remembering for years; stored in the transaction it describes.

    Attributes:
        actor: Who did it: a person, ``cli`` or ``system``.
        action: A fixed word such as ``credential.issued``.
        subject: What it was done to: a kind and an id, ``account:<uuid>``.
        details: Flat texts; never a secret.
        companies: Whose it is, by which it is shown to people who are limited
            to companies; None has the store find it by the subject, empty is
            for people of no limit alone.
    """

    at: datetime
    actor: str
    action: str
    subject: str
    details: Mapping[str, str] = field(default_factory=dict)
    trace_id: str = ""
    companies: frozenset[str] | None = None


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

    async def find_at(self, provider: str, provider_account: str) -> Account | None:
        """Return the one that a bank calls by this name; the oldest where several are it."""
        ...

    async def add(self, account: Account, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists, also BankAccountTaken, when something is taken."""
        ...

    async def replace(
        self, account: Account, event: AuditEvent, seen: Account | None = None
    ) -> bool:
        """Overwrite one; False when there is none, or it is not as it was ``seen``; see ``add``."""
        ...

    async def list(self, company_id: str | None = None) -> Sequence[Account]:
        """Return all, or those of one company, oldest first."""
        ...


class Credentials(Protocol):
    """Credentials by client id."""

    async def find(self, client_id: str) -> Credential | None:
        """Return one by its exact id, revoked and expired ones included."""
        ...

    async def add(
        self, credential: Credential, event: AuditEvent, collection: SecretCollection | None = None
    ) -> None:
        """
        Store a new one; AlreadyExists when the id is taken.

        With ``collection`` as the outcome of an order, once; else NothingToCollect.
        """
        ...

    async def rotate(self, client_id: str, rotation: Rotation, event: AuditEvent) -> bool:
        """
        Make the new secret current, end the current one when told, drop older; False: none.

        ``rotation.collection`` is that of ``add``.
        """
        ...

    async def set_limits(self, client_id: str, limits: CredentialLimits, event: AuditEvent) -> bool:
        """Give one these limits; False when there is none, or it was revoked."""
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

    async def add(
        self, payout: Payout, attempt: Attempt, *, limited: bool = False
    ) -> Payout | None:
        """
        Store the intent by one atomic insert.

        With ``limited`` the limits of the payout's credential are looked at in
        the same transaction.

        Returns:
            None when it is ours now; else the row that was there first.

        Raises:
            LimitReached: it is above a limit of its credential; nothing was stored.
        """
        ...

    async def claim(self, payout: Payout, attempt: Attempt, *, limited: bool = False) -> bool:
        """
        Move NOT_SENT to SENDING with the next attempt; False when somebody else did.

        ``limited`` and LimitReached are those of ``add``.
        """
        ...

    async def record(self, change: Change) -> bool:
        """Do a step by compare-and-set; False when the row stood elsewhere."""
        ...

    async def find(self, account_id: str, reference: str) -> Payout | None:
        """Return one."""
        ...

    async def similar(self, payout: Payout, since: datetime) -> Sequence[str]:
        """Return other references created since with the same amount and destination."""
        ...

    async def search(
        self, account_id: str, search: Search, states: Collection[PayoutState] = ()
    ) -> tuple[Sequence[Payout], int]:
        """
        Return a page, newest created first, and how many lie in the window.

        With ``states``: of those in one of these alone.
        """
        ...

    async def attempts(self, account_id: str, reference: str) -> Sequence[Attempt]:
        """Return every try, oldest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """
    A look at an unsettled payout that is over.

    Attributes:
        owner: Who claimed it; a claim that was taken over is left alone.
        attempt, state: Where it stood after the look; one that has moved on
            since keeps its own schedule.
        next_check_at: When to look again; None never.
        review: No proof can be had any more: a person decides.
    """

    account_id: str
    reference: str
    attempt: int
    state: PayoutState
    owner: str
    at: datetime
    next_check_at: datetime | None
    review: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """
    How a provider's payouts stand.

    Attributes:
        unresolved: Payouts whose outcome is not known.
        oldest_at: When the oldest of them was created; None when there is none.
        review: Payouts that wait for a person.
    """

    provider: str
    unresolved: int
    oldest_at: datetime | None
    review: int


class FollowUps(Protocol):
    """Payouts that must be looked at again; any number of processes may share the work."""

    async def claim_due(self, owner: str, now: datetime, until: datetime) -> Sequence[Payout]:
        """Claim what is due and free, at most fifty; the claims end at ``until``."""
        ...

    async def checked(self, checked: Checked) -> bool:
        """Note a look and let the claim go; False when it was somebody else's by then."""
        ...

    async def unresolved(self) -> Sequence[Payout]:
        """Return every payout whose outcome is not known or that waits for a person."""
        ...

    async def find_by_key(self, provider_key: str) -> Payout | None:
        """Return the one a bank knows by this key."""
        ...

    async def standing(self) -> Sequence[Unsettled]:
        """Count what is unsettled, by provider."""
        ...


class Stops(Protocol):
    """Kill switches."""

    async def add(self, stop: Stop, event: AuditEvent) -> None:
        """Store a new one."""
        ...

    async def lift(self, stop_id: str, at: datetime, event: AuditEvent) -> bool:
        """End one now; False when there is none or it has ended already."""
        ...

    async def active(self, at: datetime) -> Sequence[Stop]:
        """Return those that hold at an instant, oldest first."""
        ...


class Reviews(Protocol):
    """Opinions on payouts that no proof can settle."""

    async def add(self, opinion: Opinion, event: AuditEvent) -> Sequence[Opinion]:
        """Store one and return all on this payout, oldest first; one person has one opinion."""
        ...

    async def of(self, account_id: str, reference: str) -> Sequence[Opinion]:
        """Return all on one payout, oldest first."""
        ...

    async def decide(self, change: Change, event: AuditEvent) -> bool:
        """Do the final step and end the review; False when the payout stood elsewhere."""
        ...


@dataclass(frozen=True, slots=True)
class AuditHead:
    """
    The end of the audit log.

    Attributes:
        number, hash: Of the last event; 0 and 32 zero bytes before the first.
        key_id: Names the key it is sealed under; empty where there was none.
        seal: What only somebody with that key can make of the rest.
    """

    number: int
    hash: bytes
    key_id: str = ""
    seal: bytes = field(default=b"", repr=False)


class Audit(Protocol):
    """The append-only, hash-chained record of acts."""

    async def append(self, *events: AuditEvent) -> None:
        """Add events in one transaction."""
        ...

    async def seal(self, at: datetime) -> None:
        """Seal a log that was kept without a key; nothing happens to one that is sealed."""
        ...

    async def head(self) -> AuditHead:
        """Return the head as it is now; ValueError when it is not of our making."""
        ...

    async def verify(self, kept: AuditHead | None = None) -> int:
        """
        Walk the chain; return its length. ValueError names the first broken link.

        With ``kept``, a head of before that was kept elsewhere, it also finds a
        log that was cut or made anew together with its head.
        """
        ...
