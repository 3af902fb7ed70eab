"""Which days, which page of them, which status; which accounts; which report?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from gateway.accounts.model import AccountSearch
from gateway.banks.port.refunds import IncomingSearch, IncomingStatus, RefundSearch, RefundStatus
from gateway.banks.port.statements import Direction
from gateway.charges.model import ChargeSearch, ChargeState
from gateway.core import errors, strict
from gateway.core.approvals import ApprovalSearch, ApprovalState
from gateway.core.calls import Input, Parameter, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.schemas import Day
from gateway.core.windows import (
    DEFAULT_LIMIT,
    LARGEST_LIMIT,
    LocalWindow,
    Paging,
    Search,
)
from gateway.credentials.model import CredentialSearch, CredentialState
from gateway.payouts.list_query import days, paging, positive_integer, window
from gateway.payouts.status import PayoutSearch, PayoutStatus
from gateway.reports.texts import Locale
from gateway.statements.model import ReportRequest, StatementSearch
from policies.validation import fields
from policies.validation.backoffice import inputs
from policies.validation.fields import document, unknown_field
from policies.validation.inputs import SEARCH


class _Days(StrEnum):
    """How days are counted, where not in UTC."""

    LOCAL = "local"


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


class SearchBody(msgspec.Struct, forbid_unknown_fields=True):
    """Both days included, at most 90; more than 100 a page counts as 100."""

    init: Day
    ends: Day
    page: Page = 1
    limit: Limit = DEFAULT_LIMIT


class BankSearchBody(SearchBody, forbid_unknown_fields=True):
    """With ``days`` as ``local``, days are counted by the clock of Brasilia, else in UTC."""

    days: Literal["local"] | UnsetType = UNSET


class IncomingBody(BankSearchBody, forbid_unknown_fields=True):
    """Payments by the day they came in; without ``status`` all."""

    status: Literal["paid", "partly_refunded", "refunded"] | UnsetType = UNSET


class RefundsBody(BankSearchBody, forbid_unknown_fields=True):
    """Refunds by the day they were ordered; without ``status`` all."""

    status: Literal["processing", "paid", "failed"] | UnsetType = UNSET


class WithdrawsBody(SearchBody, forbid_unknown_fields=True):
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
        if "days" in shape.__struct_fields__ and not fields.missing(body, "days"):
            wanted = _by_local_days(wanted, body["days"])
        if fields.missing(body, "status"):
            return make(wanted, None)
        return make(wanted, fields.read(status, body["status"], "status", "not_one_of"))

    return Input(read=read, body=shape, refuses=_REFUSES)


def _body(asked: RawRequest, shape: type[SearchBody]) -> Mapping[str, Any]:
    """Read the body; a filter that nobody knows must not look like one that matches everything."""
    body = document(asked)
    unknown = unknown_field(body, shape)
    if unknown is not None:
        raise ServiceError(errors.PAYLOAD_INVALID, "unknown_field", field=unknown)
    return body


def _search(body: Mapping[str, Any]) -> Search:
    fields.demand(body, ("init", "ends"))
    window = days(fields.day(body["init"], "init"), fields.day(body["ends"], "ends"))
    page, limit = _counted(body, "page", 1), _counted(body, "limit", DEFAULT_LIMIT)
    return Search(window, Paging(page, min(limit, LARGEST_LIMIT)))


def _by_local_days(asked: Search, word: object) -> Search:
    """Count the days by the clock of Brasilia; ``SVC.VAL.011`` for another word."""
    fields.read(_Days, word, "days", "not_one_of")
    return Search(LocalWindow(asked.window.init, asked.window.ends), asked.paging)


def _counted(body: Mapping[str, Any], name: str, default: int) -> int:
    """Read a positive whole number, or take the default when it is absent."""
    if body.get(name) is None:
        return default
    return positive_integer(lambda: fields.whole(body[name]), name)


INCOMING: Final[Input[IncomingSearch]] = _filtered(IncomingBody, IncomingStatus, IncomingSearch)
REFUNDS: Final[Input[RefundSearch]] = _filtered(RefundsBody, RefundStatus, RefundSearch)
WITHDRAWS: Final[Input[PayoutSearch]] = _filtered(WithdrawsBody, PayoutStatus, PayoutSearch)


def accounts(asked: RawRequest) -> AccountSearch:
    """
    Read the query.

    Raises:
        ServiceError: ``SVC.VAL.009`` for page or limit, ``SVC.VAL.011`` for a
            company that is no UUID or named twice.
    """
    return AccountSearch(paging(asked), _one(asked, "company_id", strict.uuid_text, "uuid_form"))


ACCOUNTS: Final[Input[AccountSearch]] = Input(
    read=accounts,
    parameters=(
        *inputs.PAGING,
        Parameter(
            name="company_id",
            required=False,
            schema={"type": "string", "format": "uuid"},
            description="Of this company alone.",
        ),
    ),
    refuses=(errors.NUMBER_INVALID, errors.PAYLOAD_INVALID),
)


def _charges(given: inputs.Filters) -> ChargeSearch:
    return ChargeSearch(
        page=given.keyset(),
        since=given.instant("since"),
        until=given.instant("until"),
        account_id=given.uuid("account_id"),
        reference=given.text("reference"),
        state=given.read("status", ChargeState),
        text=given.text("text"),
    )


CHARGES: Final[Input[ChargeSearch]] = inputs.filters(
    _charges,
    inputs.uuid_filter("account_id", "Of this account alone."),
    inputs.text_filter("reference", "The whole reference."),
    inputs.text_filter(
        "text",
        "An amount, asked for or paid; or a part of a reference or of a payer's name, of the "
        "newest 20,000.",
    ),
    inputs.word_filter("status", ChargeState),
    inputs.instant_filter("since", "Ordered then or later."),
    inputs.instant_filter("until", "Ordered before."),
    *inputs.KEYSET,
)
_DAYS = frozenset({"init", "ends"})
_UNTIED: Final = ("no",)
_DIRECTIONS: Final = frozenset(each.value for each in Direction)


def statement(asked: RawRequest) -> StatementSearch:
    """Read the query; raises as ``SEARCH`` does, and ``SVC.VAL.011`` for the filters."""
    search, direction = SEARCH.read(asked), _word(asked, "direction", _DIRECTIONS)
    return StatementSearch(
        search=search,
        direction=Direction(direction) if direction else None,
        text=_one(asked, "text", strict.plain_text, "text_form") or "",
        untied=bool(_word(asked, "tied", _UNTIED)),
    )


def _one(asked: RawRequest, name: str, reader: Callable[[str], str], reason: str) -> str | None:
    """Read the one value of a parameter; None where it is absent or empty."""
    values = list(asked.query.get(name, ()))
    if values in ([], [""]):
        return None
    try:
        (text,) = values
        return reader(text)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name) from problem


def _local(parameter: Parameter) -> Parameter:
    return replace(
        parameter, description=parameter.description.replace("UTC day", "day of Brasilia")
    )


STATEMENT: Final[Input[StatementSearch]] = Input(
    read=statement,
    parameters=(
        *map(_local, SEARCH.parameters),
        inputs.word_filter("direction", Direction),
        inputs.text_filter(
            "text", "Part of a description, a name, an end-to-end id or a reference, or an amount."
        ),
        Parameter(
            name="tied",
            required=False,
            schema={"type": "string", "enum": list(_UNTIED)},
            description="Only movements behind which nothing of ours is known.",
        ),
    ),
    refuses=(*SEARCH.refuses, errors.PAYLOAD_INVALID),
)


_LOCAL: Final = ("local",)
_LOCAL_DAYS: Final = Parameter(
    name="days",
    required=False,
    schema={"type": "string", "enum": list(_LOCAL)},
    description="Counts days by the clock of Brasilia; without it they are days in UTC.",
)
_HIDDEN: Final = ("hidden",)
_TAX_NUMBERS: Final = Parameter(
    name="tax_numbers",
    required=False,
    schema={"type": "string", "enum": list(_HIDDEN)},
    description="Hides both ends of each CPF.",
)


def _word(asked: RawRequest, name: str, words: Collection[str]) -> str:
    """Read one of the words; empty where it is absent or empty."""
    values = list(asked.query.get(name, ()))
    if values in ([], [""]):
        return ""
    if len(values) != 1 or values[0] not in words:
        reason = "not_one_of" if len(values) == 1 else "repeated"
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name)
    return values[0]


def report_input(formats: Collection[str]) -> Input[ReportRequest]:
    """Take a report of one of the formats."""
    locales = [each.value for each in Locale if each.value]

    def read(asked: RawRequest) -> ReportRequest:
        days = window(asked)
        wanted = _word(asked, "format", formats)
        if not wanted:
            raise ServiceError(errors.FIELD_MISSING, "missing", field="format")
        return ReportRequest(
            window=LocalWindow(days.init, days.ends) if _word(asked, "days", _LOCAL) else days,
            format=wanted,
            locale=Locale(_word(asked, "locale", locales)),
            hides_people=bool(_word(asked, "tax_numbers", _HIDDEN)),
        )

    return Input(
        read=read,
        parameters=(
            *(each for each in SEARCH.parameters if each.name in _DAYS),
            Parameter(
                name="format",
                required=True,
                schema={"type": "string", "enum": sorted(formats)},
                description="The kind of file.",
            ),
            Parameter(
                name="locale",
                required=False,
                schema={"type": "string", "enum": sorted(locales)},
                description="For readers in Brazil; only csv is written differently.",
            ),
            _LOCAL_DAYS,
            _TAX_NUMBERS,
        ),
        refuses=(
            errors.FIELD_MISSING,
            errors.DATE_INVALID,
            errors.WINDOW_INVALID,
            errors.PAYLOAD_INVALID,
        ),
    )


APPROVALS: Final = inputs.filters(
    lambda given: ApprovalSearch(paging=given.paging(), state=given.read("status", ApprovalState)),
    inputs.word_filter("status", ApprovalState),
    *inputs.PAGING,
)
"""Which orders that wait, or waited."""

CREDENTIALS: Final = inputs.filters(
    lambda given: CredentialSearch(
        paging=given.paging(),
        company_id=given.read("company_id", strict.uuid_text),
        state=given.read("state", CredentialState),
        text=given.text("text"),
    ),
    inputs.text_filter("company_id", "Only those of this company."),
    inputs.word_filter("state", CredentialState),
    inputs.text_filter("text", "In the name, or how the client id begins."),
    *inputs.PAGING,
)
"""Which credentials."""
