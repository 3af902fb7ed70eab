"""Callbacks: what banks sent us unasked, as it is kept and looked into."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.domain.bank.provider_callbacks import CallbackKind, NamedBy
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.events import PayoutEvent
from gateway.domain.payouts.followups import Backlog


class CallbackState(StrEnum):
    """What became of one."""

    RECEIVED = "received"
    DONE = "done"
    IGNORED = "ignored"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """
    One thing that a proven callback says.

    Attributes:
        id: A lower-case UUID.
        event: The bank's own name of it, or the SHA-256 of the body and the place in
            it: with the provider it tells one that was seen before.
        subject: The provider key of a payout or refund, the reference of a charge.
        account, named_by: What names the account, and how; see ``Notice``.
        body: As it came.
        tries: How often it was looked into.
        due_at: When to look into it; None when that is over.
        company_id: Whose account it speaks of; empty until that is known.
        provider_id: The bank's id of a payout, as the callback says it; see ``Notice``.
    """

    id: str
    provider: str
    event: str
    kind: CallbackKind
    subject: str
    received_at: datetime
    body: bytes = field(repr=False)
    account: str = ""
    named_by: NamedBy = NamedBy.ACCOUNT
    state: CallbackState = CallbackState.RECEIVED
    tries: int = 0
    due_at: datetime | None = None
    handled_at: datetime | None = None
    company_id: str = ""
    provider_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackSearch:
    """Which callbacks; None for all, and no companies for those of all."""

    paging: Paging
    provider: str | None = None
    kind: CallbackKind | None = None
    state: CallbackState | None = None


class Callbacks(Protocol):
    """What banks told us."""

    async def add(self, callback: Callback) -> bool:
        """Store a new one; False when its provider told of this event before."""
        ...

    async def due(
        self, now: datetime, until: datetime, but_of: Collection[str] = ()
    ) -> Sequence[Callback]:
        """
        Claim what is to be looked into, at most fifty; it is due again at ``until``.

        Those of the providers ``but_of`` are left where they are.
        """
        ...

    async def handled(
        self,
        callback_id: str,
        state: CallbackState,
        at: datetime,
        again_at: datetime | None,
        heard: PayoutEvent | None = None,
    ) -> None:
        """Note what became of one, and what its payout's bank said; ``again_at`` asks again."""
        ...

    async def belongs(
        self, callback_id: str, company_id: str, noticed: PayoutEvent | None = None
    ) -> None:
        """Note whose account one speaks of, and the event of the payout that it names."""
        ...

    async def waiting(self) -> Sequence[Backlog]:
        """Count what is to be looked into, by provider; one that has nothing is left out."""
        ...

    async def search(
        self, search: CallbackSearch, scope: CompanyScope
    ) -> tuple[Sequence[Callback], int]:
        """Return a page, newest first, and how many there are."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was received before an instant; return how many."""
        ...
