"""Which days, which page of them, and which status: in a body, as the query says it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from gateway.domain.bank.incoming import IncomingSearch, IncomingStatus
from gateway.domain.bank.refunds import RefundSearch, RefundStatus
from gateway.domain.kernel import errors
from gateway.domain.kernel.windows import DEFAULT_LIMIT, LARGEST_LIMIT, Paging, Search
from gateway.domain.payouts.status import PayoutSearch, PayoutStatus
from gateway.domain.requests.calls import Input, RawRequest
from policies.validation import fields
from policies.validation.document import document
from policies.validation.fields import Day
from policies.validation.search import days, positive_integer

Status = TypeVar("Status", bound=StrEnum)
Wanted = TypeVar("Wanted")

Page = Annotated[int, msgspec.Meta(ge=1, le=10**18 - 1, description="Counted from 1.")]
Limit = Annotated[
    int,
    msgspec.Meta(
        ge=1, description=f"Per page; more than {LARGEST_LIMIT} counts as {LARGEST_LIMIT}."
    ),
]

_REFUSES: Final = (
    errors.PAYLOAD_INVALID,
    errors.FIELD_MISSING,
    errors.DATE_INVALID,
    errors.WINDOW_INVALID,
    errors.NUMBER_INVALID,
)


class SearchBody(msgspec.Struct):
    """Both days included, at most 90; more than 100 a page counts as 100."""

    init: Day
    ends: Day
    page: Page = 1
    limit: Limit = DEFAULT_LIMIT


class IncomingBody(SearchBody):
    """Payments by the day they came in; without ``status`` all."""

    status: Literal["paid", "partly_refunded", "refunded"] | UnsetType = UNSET


class RefundsBody(SearchBody):
    """Refunds by the day they were ordered; without ``status`` all."""

    status: Literal["processing", "paid", "failed"] | UnsetType = UNSET


class WithdrawsBody(SearchBody):
    """Payouts by the day they were created; without ``status`` all."""

    status: Literal["processing", "paid", "failed"] | UnsetType = UNSET


def _filtered(
    shape: type[SearchBody], status: type[Status], make: Callable[[Search, Status | None], Wanted]
) -> Input[Wanted]:
    """
    Take a search with a status.

    It refuses as the query does, in its order; first, what is no JSON object.
    """

    def read(asked: RawRequest) -> Wanted:
        body = _body(asked, shape)
        wanted = _search(body)
        if fields.missing(body, "status"):
            return make(wanted, None)
        return make(wanted, fields.read(status, body["status"], "status", "not_one_of"))

    return Input(read=read, body=shape, refuses=_REFUSES)


def _body(asked: RawRequest, shape: type[SearchBody]) -> Mapping[str, Any]:
    """Read the body, and count what is not known."""
    body = document(asked)
    asked.unknown_fields = len(body.keys() - set(shape.__struct_fields__))
    return body


def _search(body: Mapping[str, Any]) -> Search:
    fields.demand(body, ("init", "ends"))
    window = days(fields.day(body["init"], "init"), fields.day(body["ends"], "ends"))
    page, limit = _counted(body, "page", 1), _counted(body, "limit", DEFAULT_LIMIT)
    return Search(window, Paging(page, min(limit, LARGEST_LIMIT)))


def _counted(body: Mapping[str, Any], name: str, default: int) -> int:
    """Read a positive whole number, or take the default when it is absent."""
    if body.get(name) is None:
        return default
    return positive_integer(lambda: fields.whole(body[name]), name)


INCOMING: Final[Input[IncomingSearch]] = _filtered(IncomingBody, IncomingStatus, IncomingSearch)
REFUNDS: Final[Input[RefundSearch]] = _filtered(RefundsBody, RefundStatus, RefundSearch)
WITHDRAWS: Final[Input[PayoutSearch]] = _filtered(WithdrawsBody, PayoutStatus, PayoutSearch)
