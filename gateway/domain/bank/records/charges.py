"""What we keep of charges that were ordered through us, so that a list asks no bank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.domain.bank.charges import ChargeType
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.windows import Keyset


class ChargeState(StrEnum):
    """
    What is last known of a charge.

    UNKNOWN: It was ordered, and no answer of its bank tells that it was made.
    EXPIRED: Active, and past its expiry; never stored.
    """

    UNKNOWN = "Unknown"
    ACTIVE = "Active"
    EXPIRED = "Expired"
    PAID = "Paid"
    CANCELED = "Canceled"


ENDED = frozenset({ChargeState.PAID, ChargeState.CANCELED})
"""A charge never becomes active again, whatever a slow answer says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRecord:
    """
    A charge that was ordered through us.

    Attributes:
        id: A UUID of ours.
        centavos: None for an open amount.
        state: As last told by the bank, at ``updated_at``.
        created_at: When it was ordered.
        expires_at: None when it never expires.
        paid_at, e2e_id: Of the last payment that was seen.
        made_until: Until then its order is being made, or its outcome is unknown: no other
            process asks the bank for a charge of this reference.
    """

    id: str
    account_id: str
    reference: str
    provider: str
    type: ChargeType
    reusable: bool
    centavos: int | None
    state: ChargeState
    created_at: datetime
    expires_at: datetime | None
    updated_at: datetime
    paid_at: datetime | None = None
    e2e_id: str = ""
    made_until: datetime | None = None

    def state_at(self, now: datetime) -> ChargeState:
        """Return the state, ``EXPIRED`` for an active one that can no longer be paid."""
        is_over = self.expires_at is not None and self.expires_at <= now
        return ChargeState.EXPIRED if is_over and self.state is ChargeState.ACTIVE else self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCharge:
    """
    What an answer of a bank told of a charge, which may not be one of ours.

    Attributes:
        state: ``PAID`` where ``paid_at`` and ``e2e_id`` tell the payment.
    """

    account_id: str
    reference: str
    state: ChargeState
    at: datetime
    paid_at: datetime | None = None
    e2e_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeSearch:
    """Which charges, newest first; None for all. ``now`` decides which have expired."""

    now: datetime
    page: Keyset
    since: datetime | None = None
    until: datetime | None = None
    account_id: str | None = None
    reference: str | None = None
    state: ChargeState | None = None


class ChargeRecords(Protocol):
    """Records by account and reference; each call raises ``StoreUnavailable`` as stores do."""

    async def begin(self, record: ChargeRecord) -> bool:
        """
        Hold the reference until ``made_until``, and store the record where it has none.

        False while another order holds it, in whatever process.
        """
        ...

    async def renew(self, record: ChargeRecord) -> None:
        """
        Store one in the place of whatever its reference had, but under the same id.

        Its order is over: the reference is held by nobody.
        """
        ...

    async def discard(self, record: ChargeRecord) -> None:
        """
        Delete one that the bank did not make, unless more is known of it by now.

        Its order is over: the reference is held by this order no more.
        """
        ...

    async def note(self, seen: Sequence[SeenCharge]) -> None:
        """Keep what is new; what ended stays ended, and a reusable charge stays active."""
        ...

    async def search(self, wanted: ChargeSearch, scope: CompanyScope) -> Sequence[ChargeRecord]:
        """Return at most one more than the page has, newest first."""
        ...

    async def paid_by(self, account_id: str, e2e_ids: Collection[str]) -> Sequence[ChargeRecord]:
        """Return the charges of an account whose last payment is one of these."""
        ...
