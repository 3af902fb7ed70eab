"""
The ports to what the back office stores.

As in ``gateway.domain.stores``: every method raises ``StoreUnavailable`` when
the store cannot answer; an ``AuditEvent`` is stored in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.domain.accounts import Company, Credential
from gateway.domain.approvals import Approval, ApprovalState
from gateway.domain.callbacks import Callback, CallbackKind, CallbackState
from gateway.domain.payouts import Payout
from gateway.domain.people import User
from gateway.domain.request_log import LoggedRequest
from gateway.domain.stops import Stop
from gateway.domain.stores import AuditEvent
from gateway.domain.windows import Paging


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSearch:
    """
    Which approvals.

    Attributes:
        state: None for all.
        companies: Of these companies; empty for all.
        ordered_by: Or else ordered by this person.
    """

    paging: Paging
    state: ApprovalState | None = None
    companies: frozenset[str] = frozenset()
    ordered_by: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many orders wait, and since when the oldest does; None when there is none."""

    count: int
    oldest_at: datetime | None


class Approvals(Protocol):
    """Orders that wait for another person."""

    async def add(self, approval: Approval, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when one of its kind, subject and reference waits."""
        ...

    async def find(self, approval_id: str) -> Approval | None:
        """Return one."""
        ...

    async def search(self, search: ApprovalSearch) -> tuple[Sequence[Approval], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def decide(self, decided: Approval, event: AuditEvent) -> bool:
        """Store the decision by compare-and-set; False when it waits no more."""
        ...

    async def conclude(self, concluded: Approval, event: AuditEvent) -> bool:
        """Store the outcome of one that was approved; False when it has ended."""
        ...

    async def unsettled(self, since: datetime) -> Sequence[Approval]:
        """Return payouts ordered since whose outcome is open, oldest first, at most a hundred."""
        ...

    async def overdue(self, now: datetime) -> Sequence[Approval]:
        """Return those that wait past their end, at most a hundred."""
        ...

    async def waiting(self, now: datetime) -> Waiting:
        """Count those that can still be decided."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackSearch:
    """Which callbacks; None for all, and no companies for those of all."""

    paging: Paging
    provider: str | None = None
    kind: CallbackKind | None = None
    state: CallbackState | None = None
    companies: frozenset[str] = frozenset()


class Callbacks(Protocol):
    """What banks told us."""

    async def add(self, callback: Callback) -> bool:
        """Store a new one; False when its provider told of this event before."""
        ...

    async def due(self, now: datetime, until: datetime) -> Sequence[Callback]:
        """Claim what is to be looked into, at most fifty; it is due again at ``until``."""
        ...

    async def handled(
        self, callback_id: str, state: CallbackState, at: datetime, again_at: datetime | None
    ) -> None:
        """Note what became of one; ``again_at`` asks for another look."""
        ...

    async def belongs(self, callback_id: str, company_id: str) -> None:
        """Note whose account one speaks of."""
        ...

    async def search(self, search: CallbackSearch) -> tuple[Sequence[Callback], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was received before an instant; return how many."""
        ...


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
    companies: frozenset[str] = frozenset()


class RequestLog(Protocol):
    """Served requests."""

    async def add(self, requests: Sequence[LoggedRequest]) -> None:
        """Store some."""
        ...

    async def search(self, search: RequestSearch) -> tuple[Sequence[LoggedRequest], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what is older; return how many."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSearch:
    """
    Which acts; None for all.

    Texts match whole, or what begins so where they end in ``*``; a trace id
    matches whole.

    Attributes:
        companies: Whoever asks is limited to these: acts of one of them, or of
            exactly all of them; empty for everybody's.
    """

    paging: Paging
    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    action: str | None = None
    subject: str | None = None
    trace_id: str | None = None
    companies: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act on record: its place in the chain, what it was, and its hash."""

    number: int
    event: AuditEvent
    hash: bytes


class AuditRecord(Protocol):
    """The record of acts, for reading."""

    async def find_acts(self, search: AuditSearch) -> tuple[Sequence[AuditEntry], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def after(
        self, number: int, most: int, companies: frozenset[str] = frozenset()
    ) -> Sequence[AuditEntry]:
        """Return what follows ``number``, in the order of the chain; companies limit as above."""
        ...

    async def verify(self) -> int:
        """Walk the chain; return its length. ValueError names the first broken link."""
        ...


@dataclass(frozen=True, slots=True)
class Shown:
    """
    A page of what somebody is shown.

    Attributes:
        companies: The only ones they see; empty for all.
    """

    paging: Paging
    companies: frozenset[str] = frozenset()


class Lists(Protocol):
    """Pages, oldest first, each with how many there are in all."""

    async def companies(self, shown: Shown) -> tuple[Sequence[Company], int]:
        """List companies."""
        ...

    async def credentials(
        self, shown: Shown, company_id: str | None
    ) -> tuple[Sequence[Credential], int]:
        """List credentials, ended ones too; ``company_id`` None is every company's."""
        ...

    async def people(self, shown: Shown) -> tuple[Sequence[User], int]:
        """List people; who is limited to companies sees those who see nothing beyond."""
        ...

    async def last_sign_ins(self, user_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Return when each of these people last signed in, as far as it is on record."""
        ...

    async def stops(self, shown: Shown, at: datetime) -> tuple[Sequence[Stop], int]:
        """List the stops that hold at an instant; a provider's concern everybody."""
        ...

    async def reviews(self, shown: Shown) -> tuple[Sequence[Payout], int]:
        """List the payouts that wait for people."""
        ...
