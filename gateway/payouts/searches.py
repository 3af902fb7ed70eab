"""Searches of the payouts of all accounts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from gateway.banks.port.payout_orders import FailureCode, PayoutMethod
from gateway.core.calls import Input
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.core.windows import (
    DEFAULT_LIMIT,
    LARGEST_LIMIT,
    LOCAL,
    local_end,
    local_start,
)
from gateway.payouts.model import CertaintySought, PayoutSearch, PayoutState, PayoutStatus
from policies.validation.backoffice.searches import Limit, SearchBody, filtered
from policies.validation.search import days

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAYS: Final = 7
"""A week has enough to see a pattern, and few enough to be counted."""
FOUND_AT_MOST: Final = 25
"""Hits of a text on a page."""
_PLACE: Final = r"^([0-9]{1,17})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$"
"""Microseconds since 1970, below the year 5139, so that each one is an instant."""
Word = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
"""A name or an id of ours; none is longer."""
After = Annotated[
    str,
    msgspec.Meta(
        pattern=_PLACE,
        description="What the page before says in `next`; absent for the first page.",
        examples=["1795177815123456.0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01." + "9f" * 32],
    ),
]


class PayoutOrder(StrEnum):
    """By when they were created."""

    NEWEST = "newest"
    OLDEST = "oldest"


class PayoutFilterBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """
    Payouts by the day they were created, in the time of Brasilia; both included, at most 90.

    Or of the last `days`, today included: 7 where nothing else is said. What is left out does not
    limit; `states` are alternatives; `unresolved` is whether it is unknown or in review, `returned`
    whether money of a paid one came back. `least`, `most` and an amount as `text` ask for what was
    ordered, what the bank moved, or what came back, in part or in sum. Any other `text` is a part
    of a reference or words of the recipient's name, in the newest 20,000 alone.
    """

    init: date | None = None
    ends: date | None = None
    days: Annotated[int, msgspec.Meta(ge=1, le=90)] | None = None
    states: list[PayoutState] = []
    certainty: CertaintySought | None = None
    review: bool | None = None
    unresolved: bool | None = None
    least: Money | None = None
    most: Money | None = None
    provider: Word | None = None
    account_id: Word | None = None
    client_id: Word | None = None
    method: PayoutMethod | None = None
    failure: FailureCode | None = None
    returned: bool | None = None
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    order: PayoutOrder = PayoutOrder.NEWEST


class PayoutsBody(PayoutFilterBody, kw_only=True, forbid_unknown_fields=True):
    """The same, of which one page is shown: by its number, or what follows another page."""

    limit: Limit = DEFAULT_LIMIT
    page: Annotated[
        int,
        msgspec.Meta(
            description="Number of the page, beginning behind `after`.", ge=1, le=400, examples=[1]
        ),
    ] = 1
    after: After | None = None


@dataclass(frozen=True, slots=True)
class PayoutPlace:
    """Where a page ends: what stands in front of the next one, in any order."""

    created_at: datetime
    account_id: str
    reference_sha256: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """
    A part of what a text names, newest first.

    Attributes:
        start, end: Created from ``start`` on, and before ``end``; None for no bound.
    """

    start: datetime | None = None
    end: datetime | None = None
    limit: int = FOUND_AT_MOST
    offset: int = 0


NEWEST: Final = Cut()
"""The first page, of all times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutQuery:
    """
    One page of a search.

    Attributes:
        start, end: Created from ``start`` on, and before ``end``; None for no bound.
        ordered: Exactly the amount that was ordered, whatever was moved; None for any.
        offset: How many are left out before the page.
        after: None for the first page.
    """

    wanted: PayoutFilterBody
    start: datetime | None
    end: datetime | None
    ordered: Money | None = None
    limit: int = LARGEST_LIMIT
    offset: int = 0
    after: PayoutPlace | None = None

    @classmethod
    def of(cls, wanted: PayoutFilterBody, now: datetime) -> PayoutQuery:
        """
        Say when the days of a search begin and end.

        Raises:
            ServiceError: ``VALIDATION_FAILED`` for days that are none, and a place that no page
                has told.
        """
        if wanted.init is None and wanted.ends is None:
            days = timedelta(days=(wanted.days or _DAYS) - 1)
            start, end = local_start(now.astimezone(LOCAL).date() - days), None
        else:
            start, end = _window(wanted)
        if not isinstance(wanted, PayoutsBody):
            return cls(wanted=wanted, start=start, end=end)
        after = None if wanted.after is None else place_of(wanted.after)
        limit = min(wanted.limit, LARGEST_LIMIT)
        offset = limit * (wanted.page - 1)
        return cls(wanted=wanted, start=start, end=end, limit=limit, offset=offset, after=after)


def _window(body: PayoutFilterBody) -> tuple[datetime, datetime]:
    """Return the bounds of the days that are named."""
    for name, day in (("init", body.init), ("ends", body.ends)):
        if day is None:
            raise ServiceError(VALIDATION_FAILED, "missing", field=name)
    found = days(body.init or date.min, body.ends or date.min, VALIDATION_FAILED)
    return local_start(found.init), local_end(found.ends)


def place_of(text: str) -> PayoutPlace:
    """Read where a page ended; VALIDATION_FAILED for what no page has said."""
    found = re.fullmatch(_PLACE, text, re.ASCII)
    if found is None:
        raise ServiceError(VALIDATION_FAILED, "form", field="after")
    at = _EPOCH + int(found[1]) * _MICROSECOND
    return PayoutPlace(at, found[2], bytes.fromhex(found[3]))


def place_text(place: PayoutPlace) -> str:
    """Write where a page ends, for the search after it."""
    at = (place.created_at - _EPOCH) // _MICROSECOND
    return f"{at}.{place.account_id}.{place.reference_sha256.hex()}"


class WithdrawsBody(SearchBody, forbid_unknown_fields=True):
    """Payouts by the day they were created; without ``status`` all."""

    status: Literal["processing", "paid", "failed"] | UnsetType = UNSET


WITHDRAWS: Final[Input[PayoutSearch]] = filtered(WithdrawsBody, PayoutStatus, PayoutSearch)
