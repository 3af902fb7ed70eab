"""The request log: thirty days of redacted access lines, searched, counted, written as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypedDict

from msgspec import Meta

from gateway.domain.backoffice.request_log import (
    COUNTED_AT_MOST,
    CURSOR,
    Cursor,
    LoggedRequest,
    RefusalGroup,
    RequestSearch,
)
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.backoffice.files import CSV, as_reader, table
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.downloads.exports import Exports
from gateway.operations.backoffice.oversight import GROUPS_AT_MOST, Oversight
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs


class RequestDocument(TypedDict):
    """
    A served request; ``line`` is all that its log line tells.

    ``account_id`` is the account that was found, empty where none was; ``duration_ms`` is in
    milliseconds.
    """

    at: Instant
    trace_id: str
    surface: str
    route: str
    method: Annotated[str, Meta(examples=["GET"])]
    status: int
    code: str
    reason: Annotated[str, Meta(examples=["scope"])]
    client_id: str
    user_id: str
    company_id: str
    account_id: str
    duration_ms: float
    line: Mapping[str, Any]


class RequestList(TypedDict):
    """
    A page of requests, newest first.

    ``next`` is where the next page begins, for ``before``; empty on the last one. ``meta.total``
    is counted up to 10,001, which stands for more than 10,000.
    """

    data: list[RequestDocument]
    meta: Meter
    next: Annotated[str, Meta(examples=["1795182011000000-4711"])]


class RefusalGroupDocument(TypedDict):
    """How often one credential was refused with one code for one reason, first and last."""

    code: str
    reason: Annotated[str, Meta(examples=["scope"])]
    client_id: str
    count: int
    first_at: Instant
    last_at: Instant


class RefusalSummary(TypedDict):
    """Refusals kept in the log, by code, reason and credential; the most frequent first."""

    data: list[RefusalGroupDocument]


_FILTERS: Final = (
    inputs.instant_filter("since", "Included."),
    inputs.instant_filter("until", "Not included."),
    inputs.text_filter("trace_id", "The trace id."),
    inputs.text_filter("route", "The row, such as `banking.balance`."),
    inputs.text_filter("route_text", "A part of the row's name."),
    inputs.text_filter("method", "The method, such as `GET`."),
    inputs.whole_filter("status", "The HTTP status.", least=100, most=999),
    inputs.whole_filter("status_class", "The status's first digit.", least=1, most=5),
    inputs.text_filter("code", "The code of the refusal."),
    inputs.text_filter("reason", "The reason of the refusal."),
    inputs.text_filter("client_id", "The credential that asked."),
    inputs.text_filter("account_id", "The account that was asked about."),
    inputs.text_filter("user_id", "The user who asked."),
    inputs.whole_filter("slower_ms", "At least so many milliseconds.", most=86_400_000),
    inputs.text_filter("before", "Where the page before ended: its `next`.", f"^{CURSOR}$"),
)


def request_rows(does: Oversight, exports: Exports) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/requests",
            name="backoffice.requests",
            summary="Search the requests of the last thirty days, newest first.",
            needs=reading(Area.REQUEST_LOG),
            limits=NO_BODY,
            takes=inputs.filters(_search, *_FILTERS, *inputs.PAGING),
            runs=in_scope(does.search_requests),
            shows=_requests,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/requests/summary",
            name="backoffice.requests_summary",
            summary=(
                "Count the refusals kept in the log by code, reason and credential: "
                f"the {GROUPS_AT_MOST} most frequent groups."
            ),
            needs=reading(Area.REQUEST_LOG),
            limits=NO_BODY,
            takes=inputs.filters(_search, *_FILTERS),
            runs=in_scope(does.summarize_refusals),
            shows=_summary,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/requests/export",
            name="backoffice.requests_export",
            summary=(
                "Read every request of a search as a table, newest first: "
                "semicolons, decimal commas, time of Brasilia."
            ),
            needs=reading(Area.REQUEST_LOG),
            limits=NO_BODY,
            takes=inputs.filters(_search, *_FILTERS),
            runs=as_reader(exports.logged_requests),
            shows=table("requests.csv"),
            fails=STORE_FAILS,
            raises=(),
            media=(CSV,),
        ),
    )


def _search(given: inputs.Filters) -> RequestSearch:
    slower_ms = given.whole("slower_ms")
    return RequestSearch(
        paging=given.paging(),
        since=given.instant("since"),
        until=given.instant("until"),
        trace_id=given.text("trace_id"),
        route=given.text("route"),
        route_text=given.text("route_text"),
        method=given.text("method"),
        status=given.read("status", _status),
        status_class=given.read("status_class", _status_class),
        code=given.text("code"),
        reason=given.text("reason"),
        client_id=given.text("client_id"),
        account_id=given.text("account_id"),
        user_id=given.text("user_id"),
        slower_us=None if slower_ms is None else slower_ms * 1000,
        before=given.read("before", Cursor.read),
    )


def _status(text: str) -> int:
    """Read three digits, which every database can count to."""
    if not (len(text) == len("200") and text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def _status_class(text: str) -> int:
    """Read the first digit of a status."""
    if text not in {"1", "2", "3", "4", "5"}:
        raise ValueError(text)
    return int(text)


def request(found: LoggedRequest) -> RequestDocument:
    """Show a request."""
    return {
        "at": instant(found.at),
        "trace_id": found.trace_id,
        "surface": found.surface,
        "route": found.route,
        "method": found.method,
        "status": found.status,
        "code": found.code,
        "reason": found.reason,
        "client_id": found.client_id,
        "user_id": found.user_id,
        "company_id": found.company_id,
        "account_id": found.account_id,
        "duration_ms": found.duration_us / 1000,
        "line": json.loads(found.line),
    }


def _requests(found: Listed[LoggedRequest], _who: BackOfficeCaller) -> RequestList:
    data = [request(each) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total), "next": next_of(found)}


def next_of(found: Listed[LoggedRequest]) -> str:
    """Return where the next page begins; empty where there is none."""
    paging, items = found.paging, found.items
    shown = paging.offset + len(items)
    if not items or len(items) < paging.limit or shown == found.total < COUNTED_AT_MOST:
        return ""
    return str(Cursor(items[-1].at, items[-1].number))


def _summary(found: Sequence[RefusalGroup], _who: BackOfficeCaller) -> RefusalSummary:
    return {
        "data": [
            {
                "code": each.code,
                "reason": each.reason,
                "client_id": each.client_id,
                "count": each.count,
                "first_at": instant(each.first_at),
                "last_at": instant(each.last_at),
            }
            for each in found
        ]
    }
