"""The log of served requests: stored fields, search and counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import PresentMoment
from gateway.core.windows import Paging

COUNTED_AT_MOST: Final = 10_001
"""A list of requests is counted up to here; it stands for "more than 10,000"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """
    One served request, from its access line.

    Attributes:
        line: The whole line as JSON; its fields are chosen by the log.
        account_id: The account that was found; empty where none was.
        reason: Our word for why it was refused; empty where it was not.
        duration_us: In microseconds.
        number: Its place in the store, newest highest; 0 before it is stored.
    """

    at: datetime
    trace_id: str
    surface: str
    route: str
    status: int
    code: str
    client_id: str
    user_id: str
    company_id: str
    line: str
    method: str = ""
    account_id: str = ""
    reason: str = ""
    duration_us: int = 0
    number: int = field(default=0, compare=False)

    def to_document(self, _reader: object = None) -> RequestDocument:
        """Return the request as a document, with its log line."""
        fields = RequestDocument.__struct_fields__
        values = {each: getattr(self, each) for each in fields if each not in _OWN_FORM}
        line = msgspec.json.decode(self.line)
        return RequestDocument(duration_ms=self.duration_us / 1000, line=line, **values)


_OWN_FORM: Final = ("duration_ms", "line")


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
CURSOR: Final = "([0-9]{1,16})-([0-9]{1,18})"
"""The form of a cursor as a text."""
_CURSOR: Final = re.compile(CURSOR, re.ASCII)


@dataclass(frozen=True, slots=True)
class Cursor:
    """
    Position of a request in the list, before all older requests.

    As a text it is the microseconds since 1970 and the number, with a hyphen between them.
    """

    at: datetime
    number: int

    @classmethod
    def read(cls, text: str) -> Cursor:
        """Read the text; ValueError for another form."""
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise ValueError(text)
        return cls(_EPOCH + int(found[1]) * _MICROSECOND, int(found[2]))

    def __str__(self) -> str:
        return f"{(self.at - _EPOCH) // _MICROSECOND}-{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSearch:
    """
    Search parameters of requests; None for all.

    Attributes:
        status_class: The first digit of the status.
        route: The row, whole; ``route_text`` is a part of its name.
        slower_ms: At least this long, in milliseconds.
        before: Only requests after this place; pages are then counted from there.
        pages: Pages of the panel that were read count too.
    """

    paging: Paging
    since: datetime | None = None
    until: datetime | None = None
    trace_id: str | None = None
    route: str | None = None
    route_text: str | None = None
    method: str | None = None
    status: int | None = None
    status_class: int | None = None
    code: str | None = None
    reason: str | None = None
    client_id: str | None = None
    account_id: str | None = None
    user_id: str | None = None
    slower_ms: int | None = None
    before: Cursor | None = None
    pages: bool = True


class RefusalGroup(Struct, frozen=True, kw_only=True):
    """How often one credential was refused with one code for one reason, first and last."""

    code: fields.ErrorCode
    reason: Annotated[
        str, Meta(description="Why; for people who read it later.", examples=["scope"])
    ]
    client_id: fields.ClientId
    count: fields.Count
    first_at: PresentMoment
    last_at: PresentMoment


class RequestDocument(Struct, frozen=True, kw_only=True):
    """
    A served request; ``line`` is its whole log line.

    ``account_id`` is the account that was found, empty where none was; ``duration_ms`` is in
    milliseconds.
    """

    at: PresentMoment
    trace_id: fields.TraceId
    surface: Annotated[str, meaning("Which part of the interface was called.", "banking")]
    route: Annotated[str, meaning("The operation that was called.", "banking.balance")]
    method: Annotated[str, Meta(description="HTTP method.", examples=["GET"])]
    status: Annotated[int, meaning("HTTP status of the answer.", 403)]
    code: fields.ErrorCode
    reason: Annotated[
        str, Meta(description="Why; for people who read it later.", examples=["scope"])
    ]
    client_id: fields.ClientId
    user_id: fields.UserId
    company_id: fields.CompanyId
    account_id: fields.AccountId
    duration_ms: Annotated[float, meaning("How long the answer took, in milliseconds.")]
    line: Annotated[Mapping[str, Any], meaning("The line of the request log.")]
