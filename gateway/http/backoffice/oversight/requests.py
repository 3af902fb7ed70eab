"""The request log: thirty days of redacted access lines, searched."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict

from gateway.domain.backoffice.lists import LoggedRequest, RequestSearch
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.oversight import Oversight
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs

_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_END = datetime(9999, 1, 1, tzinfo=UTC)


class RequestDocument(TypedDict):
    """A served request; ``line`` is all that its log line tells."""

    at: Instant
    trace_id: str
    surface: str
    route: str
    status: int
    code: str
    client_id: str
    user_id: str
    company_id: str
    line: Mapping[str, Any]


class RequestList(TypedDict):
    """A page of requests, newest first."""

    data: list[RequestDocument]
    meta: Meter


def request_rows(does: Oversight) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "GET",
            "/requests",
            name="backoffice.requests",
            summary="Search the requests of the last thirty days, newest first.",
            needs=reading(Area.REQUEST_LOG),
            limits=NO_BODY,
            takes=inputs.filters(
                _search,
                inputs.instant_filter("since", "Included."),
                inputs.instant_filter("until", "Not included."),
                inputs.text_filter("trace_id", "The trace id."),
                inputs.text_filter("route", "The row, such as `banking.balance`."),
                inputs.whole_filter("status", "The HTTP status.", least=100, most=999),
                inputs.text_filter("client_id", "The credential that asked."),
                inputs.text_filter("user_id", "The person who asked."),
                *inputs.PAGING,
            ),
            runs=in_scope(does.search_requests),
            shows=_requests,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _search(given: inputs.Filters) -> RequestSearch:
    return RequestSearch(
        paging=given.paging(),
        since=given.instant("since") or _BEGINNING,
        until=given.instant("until") or _END,
        trace_id=given.text("trace_id"),
        route=given.text("route"),
        status=given.read("status", _status),
        client_id=given.text("client_id"),
        user_id=given.text("user_id"),
    )


def _status(text: str) -> int:
    """Read three digits, which every database can count to."""
    if not (len(text) == len("200") and text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)


def _request(found: LoggedRequest) -> RequestDocument:
    return {
        "at": instant(found.at),
        "trace_id": found.trace_id,
        "surface": found.surface,
        "route": found.route,
        "status": found.status,
        "code": found.code,
        "client_id": found.client_id,
        "user_id": found.user_id,
        "company_id": found.company_id,
        "line": json.loads(found.line),
    }


def _requests(found: Listed[LoggedRequest], _who: BackOfficeCaller) -> RequestList:
    data = [_request(each) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}
