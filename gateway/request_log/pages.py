"""Pages of served requests: search, refusals by code, export."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from gateway.core.access import Staff
from gateway.core.calls import RawRequest
from gateway.core.priority import Priority
from gateway.core.windows import Listed
from gateway.http.panel.pages.kit import (
    PageContext,
    Pages,
    Part,
    called,
    chips,
    days_asked,
    page_asked,
    part,
)
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.pages.words import _
from gateway.http.routing import CSV
from gateway.request_log.model import (
    COUNTED_AT_MOST,
    Cursor,
    LoggedRequest,
    RefusalGroup,
    RequestSearch,
)
from gateway.request_log.searches import PAGE, SEARCH
from gateway.request_log.service import RequestLog, next_of

_LIMIT: Final = 50
_MOST: Final = COUNTED_AT_MOST - 1
"""Requests that have page numbers; older ones follow by cursor."""
_SHOWN_GROUPS: Final = 8


_NAMES: Final[Mapping[str, str]] = {
    "route_text": _("route"),
    "route": _("route"),
    "status_class": _("status"),
    "status": _("status"),
    "code": _("code"),
    "reason": _("reason"),
    "method": _("method"),
    "client_id": _("credential"),
    "account_id": _("account"),
    "user_id": _("person"),
    "slower_ms": _("at least, in milliseconds"),
    "init": _("from"),
    "ends": _("until"),
}
_FIELDS: Final = [name for name in _NAMES if name not in {"init", "ends"}]


def pages(log: RequestLog, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/requests", context)

    @panel.view("", "requests", log.search)
    async def listed(visit: Visit) -> Result:
        """Show the requests that were served, and refusals by code."""
        asked, page = _asked(visit), min(page_asked(visit), _MOST // _LIMIT)

        async def search(who: Staff, wanted: RequestSearch) -> Listed[LoggedRequest]:
            return await log.search(who, replace(wanted, pages=_shows_pages(visit)))

        found = await panel.find(
            visit,
            search,
            PAGE,
            {**asked, "limit": f"{_LIMIT}", "page": f"{page}", "before": visit.query("before")},
        )
        refusals: Part[Sequence[RefusalGroup]] = Part()
        if not visit.is_partial:
            refusals = await panel.find(visit, log.summary, SEARCH, asked)
        items = [each.to_document() for each in found.data.items] if found.data else []
        groups = (refusals.data or ())[:_SHOWN_GROUPS]
        ids = [visit.query("account_id"), visit.query("client_id")]
        ids += [each.account_id for each in items]
        ids += [*(each.client_id for each in items), *(each.client_id for each in groups)]
        users = {visit.query("user_id"), *(each.user_id for each in items)} - {""}
        following = next_of(found.data) if found.data else ""
        return Shown(
            template="operations/requests.html",
            part="operations/_requests.html",
            data={
                "found": found,
                "items": items,
                "refusals": groups,
                "names": await panel.names(visit, ids),
                "paths": [_path(each) for each in found.data.items] if found.data else [],
                "people": called((await part(log.people(panel.staff(visit), users))).data or ()),
                "me": visit.person.user_id if visit.person else "",
                "chips": chips(visit, _NAMES),
                "export": _export(visit) if panel.may(visit, log.export) else "",
                "older": visit.with_query(before=following, page="") if following else "",
                "top": visit.query("before") or _top(found.data.items if found.data else ()),
                "most": _MOST,
            },
        )

    @panel.view(
        "/export", "requests_export", log.export, media=("text/csv",), priority=Priority.HEAVY
    )
    async def export(visit: Visit) -> Result:
        """Download a search of requests as a table."""
        query = {name: [value] for name, value in _asked(visit).items() if value}
        wanted = SEARCH.read(RawRequest(path={}, query=query))
        wanted = replace(wanted, pages=_shows_pages(visit))
        file = await log.export(panel.staff(visit), wanted)
        return Download(
            content=file.first, content_type=CSV, filename="requests.csv", rest=file.rest
        )

    return panel.pages


def _top(items: Sequence[LoggedRequest]) -> str:
    """Return the cursor just before the first item, so that newer requests shift no page."""
    return str(Cursor(items[0].at, items[0].number + 1)) if items else ""


def _path(request: LoggedRequest) -> str:
    """Return the path of a call, with names in place of ids; empty where it is not stored."""
    return str(json.loads(request.line).get("path_template", ""))


def _shows_pages(visit: Visit) -> bool:
    """Return whether reads of panel pages are listed: only if a filter asks for them."""
    return any(map(visit.query, ("pages", "route", "route_text", "user_id")))


def _asked(visit: Visit) -> dict[str, str]:
    """Return the filters in the back office's form."""
    return {**{name: visit.query(name) for name in _FIELDS}, **days_asked(visit)}


def _export(visit: Visit) -> str:
    asked = {name: visit.query(name) for name in (*_NAMES, "pages") if visit.query(name)}
    return f"/panel/requests/export?{urlencode(asked)}" if asked else "/panel/requests/export"
