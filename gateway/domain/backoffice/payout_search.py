"""Payouts across accounts: which are asked for, in which order, and how many stand where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from gateway.domain.bank.payout_orders import FailureCode, PayoutMethod
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import ZERO, Money, Sum
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.domain.payouts.status import Certainty

COUNTED_AT_MOST: Final = 10_000
"""Payouts that one search counts: more say nothing to a person, and cost time for each."""


FOUND_AT_MOST: Final = 25
"""Hits of a text: who sees more than a page types more of it."""


class PayoutOrder(StrEnum):
    """By when they were created."""

    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutFilter:
    """
    Which payouts; None leaves a question open.

    Attributes:
        start, end: Created from ``start`` on, and before ``end``; None for no bound.
        states: Standing in one of these; empty for any.
        least, most: Of the amount, both included.
        returned: Whether money of it came back, wholly or in part.
    """

    start: datetime | None = None
    end: datetime | None = None
    states: frozenset[PayoutState] = frozenset()
    certainty: Certainty | None = None
    review: bool | None = None
    least: Money | None = None
    most: Money | None = None
    provider: str | None = None
    account_id: str | None = None
    client_id: str | None = None
    method: PayoutMethod | None = None
    failure: FailureCode | None = None
    returned: bool | None = None


@dataclass(frozen=True, slots=True)
class PayoutPlace:
    """Where a page ends: what stands in front of the next one, in any order."""

    created_at: datetime
    account_id: str
    reference_sha256: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutQuery:
    """
    One page of a list.

    Attributes:
        days: Of the last so many local days, today included; None where ``wanted`` says when.
        after: None for the first page.
    """

    wanted: PayoutFilter
    limit: int
    days: int | None = None
    order: PayoutOrder = PayoutOrder.NEWEST
    after: PayoutPlace | None = None


@dataclass(frozen=True, slots=True)
class FoundPayout:
    """A payout, what its account is called, and how much of it came back."""

    payout: Payout
    account_name: str
    returned: Sum = ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCount:
    """How many payouts stand alike, and what they add up to; ``returned``: money came back."""

    state: PayoutState
    certainty: Certainty
    review: bool
    count: int
    value: Sum
    returned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutCounts:
    """
    How the payouts of a filter stand, whatever it says of state, certainty and review.

    Attributes:
        complete: False where there are more than ``COUNTED_AT_MOST``: only the newest are counted.
    """

    by_state: Sequence[StateCount]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutsFound:
    """A page; ``after`` is where the next one begins, None at the end."""

    payouts: Sequence[FoundPayout]
    counts: PayoutCounts
    after: PayoutPlace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutPage:
    """A page without counts; ``after`` is where the next one begins, None at the end."""

    payouts: Sequence[FoundPayout]
    after: PayoutPlace | None


class Named(StrEnum):
    """What a text may name a payout by."""

    E2E_ID = "e2e_id"
    PROVIDER_ID = "provider_id"
    PROVIDER_KEY = "provider_key"
    TRACE_ID = "trace_id"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWork:
    """What waits for somebody, of the companies in a scope."""

    unresolved: int
    review: int
    approvals: int
    stops: int


class PayoutDirectory(Protocol):
    """Finds payouts of every account in a company scope."""

    async def search(self, query: PayoutQuery, scope: CompanyScope) -> PayoutsFound:
        """Return a page, and how all that lie in the window stand."""
        ...

    async def page(self, query: PayoutQuery, scope: CompanyScope) -> PayoutPage:
        """Return a page alone: nothing is counted."""
        ...

    async def named(self, by: Named, given: str, scope: CompanyScope) -> Sequence[FoundPayout]:
        """Return those a text names, a reference also by how it begins; the newest first."""
        ...

    async def paid_to(self, digests: Sequence[bytes], scope: CompanyScope) -> Sequence[FoundPayout]:
        """Return the newest payouts to a recipient, by digests of the tax number."""
        ...

    async def open_work(self, now: datetime, scope: CompanyScope) -> OpenWork:
        """Count what waits for somebody at an instant."""
        ...
