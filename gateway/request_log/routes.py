"""The request log in the back office."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

from msgspec import Meta

from gateway.core.fields import meaning
from gateway.core.priority import Priority
from gateway.core.windows import Listed
from gateway.http.common import Meter, meter
from gateway.http.routing import CSV, Routes, table
from gateway.request_log.model import LoggedRequest, RefusalGroup, RequestDocument
from gateway.request_log.searches import PAGE, SEARCH
from gateway.request_log.service import RequestLog, next_of


class RequestList(TypedDict):
    """
    A page of requests, newest first.

    ``next`` is where the next page begins, for ``before``; empty on the last one. ``meta.total``
    is counted up to 10,001, which stands for more than 10,000.
    """

    data: Annotated[list[RequestDocument], meaning("The rows of this page.")]
    meta: Meter
    next: Annotated[
        str,
        Meta(
            description=(
                "Where the next page begins; send it as `cursor` or `after`. Empty on the "
                "last page."
            ),
            examples=["1795182011000000-4711"],
        ),
    ]


class RefusalSummary(TypedDict):
    """Refusals kept in the log, by code, reason and credential; the most frequent first."""

    data: Annotated[list[RefusalGroup], meaning("The rows of this page.")]


def routes(log: RequestLog) -> Routes:
    """Return the routes."""
    office, search = Routes(), {"wanted": SEARCH}
    office.get("/requests", "requests", log.search, takes={"wanted": PAGE}, shows=_page)
    office.get("/requests/summary", "requests_summary", log.summary, takes=search, shows=_summary)
    office.get(
        "/requests/export",
        "requests_export",
        log.export,
        takes=search,
        shows=table("requests.csv"),
        media=(CSV,),
        priority=Priority.HEAVY,
    )
    return office


def _page(found: Listed[LoggedRequest], _who: object) -> RequestList:
    data = [each.to_document() for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total), "next": next_of(found)}


def _summary(found: Sequence[RefusalGroup], _who: object) -> RefusalSummary:
    return {"data": [*found]}
