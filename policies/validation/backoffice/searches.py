"""Searches in a body: days, page and status; and words of a query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from gateway.core import errors
from gateway.core.calls import Input, RawRequest
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.schemas import Day
from gateway.core.windows import DEFAULT_LIMIT, LARGEST_LIMIT, LocalWindow, Paging, Search
from policies.validation import fields
from policies.validation.fields import document, unknown_field
from policies.validation.search import days, positive_integer


class _Days(StrEnum):
    """How days are counted, if not in UTC."""

    LOCAL = "local"


Status = TypeVar("Status", bound=StrEnum)
Wanted = TypeVar("Wanted")
Page = Annotated[int, meaning("Counted from 1.", ge=1, le=10**18 - 1)]
Limit = Annotated[
    int, meaning(f"Per page; more than {LARGEST_LIMIT} counts as {LARGEST_LIMIT}.", ge=1)
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

    init: Annotated[Day, meaning("First day, included.")]
    ends: Annotated[Day, meaning("Last day, included.")]
    page: Page = 1
    limit: Annotated[Limit, Meta(extra_json_schema={"example": 25})] = DEFAULT_LIMIT


class BankSearchBody(SearchBody, forbid_unknown_fields=True):
    """With ``days`` as ``local``, days are counted by the clock of Brasilia, else in UTC."""

    days: Annotated[
        Literal["local"] | UnsetType,
        meaning("`local`: `init` and `ends` are days in Brasília; else they are days in UTC."),
    ] = UNSET


def filtered(
    shape: type[SearchBody], status: type[Status], make: Callable[[Search, Status | None], Wanted]
) -> Input[Wanted]:
    """
    Take a search with a status.

    It refuses as the query does, in its order; first, a body that is no JSON object.
    """

    def read(asked: RawRequest) -> Wanted:
        body = _body(asked, shape)
        wanted = _search(body)
        if "days" in shape.__struct_fields__ and not fields.missing(body, "days"):
            wanted = _by_local_days(wanted, body["days"])
        if fields.missing(body, "status"):
            return make(wanted, None)
        return make(wanted, fields.word(status, body["status"], "status"))

    return Input(read=read, body=shape, refuses=_REFUSES)


def _body(asked: RawRequest, shape: type[SearchBody]) -> Mapping[str, Any]:
    """Parse the body; an unknown filter is refused, since ignoring it would match everything."""
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
    fields.word(_Days, word, "days")
    return Search(LocalWindow(asked.window.init, asked.window.ends), asked.paging)


def _counted(body: Mapping[str, Any], name: str, default: int) -> int:
    """Read a positive whole number, or take the default when it is absent."""
    if body.get(name) is None:
        return default
    return positive_integer(lambda: fields.whole(body[name]), name)


def one_of_query(
    asked: RawRequest, name: str, reader: Callable[[str], str], reason: str
) -> str | None:
    """Read the one value of a parameter; None where it is absent or empty."""
    values = list(asked.query.get(name, ()))
    if values in ([], [""]):
        return None
    try:
        (text,) = values
        return reader(text)
    except ValueError as problem:
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name) from problem


def word_of_query(asked: RawRequest, name: str, words: Collection[str]) -> str:
    """Read one of the words; empty where it is absent or empty."""
    values = list(asked.query.get(name, ()))
    if values in ([], [""]):
        return ""
    if len(values) != 1 or values[0] not in words:
        reason, known = ("not_one_of", sorted(words)) if len(values) == 1 else ("repeated", [])
        raise ServiceError(errors.PAYLOAD_INVALID, reason, field=name, words=known)
    return values[0]
