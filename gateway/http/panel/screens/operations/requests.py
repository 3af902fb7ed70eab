"""Requests that were served: searched, counted by refusal, written as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.backoffice.files import CSV
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import day_begins
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

_READS: Final = Right(Area.REQUEST_LOG, Action.READ)
_LIMIT: Final = "50"
_NAMED: Final = ("account_id", "client_id")
_SHOWN_GROUPS: Final = 8
_FIELDS: Final = (
    *("route_text", "route", "status_class", "status", "code", "reason", "method"),
    *("client_id", "account_id", "user_id", "slower_ms"),
)


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


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


@dataclass(frozen=True, slots=True)
class RequestPages:
    """The request log."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show a page of requests, and refusals by code; each may fail alone."""
        wanted = _wanted(visit)
        listed = {**wanted, "limit": _LIMIT, "before": visit.query("before")}
        found = await self._section(visit, "backoffice.requests", listed)
        summary = Section(headers={})
        if not visit.is_partial:
            summary = await self._section(visit, "backoffice.requests_summary", wanted)
        groups = summary.data["data"][:_SHOWN_GROUPS] if summary.data else []
        listed_rows = found.data["data"] if found.data else []
        ids = [each.get(name, "") for each in (*listed_rows, *groups) for name in _NAMED]
        return Shown(
            template="operations/requests.html",
            part="operations/_requests.html",
            data={
                "found": found,
                "refusals": groups,
                "names": await self.rows.names(visit, [*ids, *(visit.query(n) for n in _NAMED)]),
                "me": visit.person.user_id if visit.person else "",
                "chips": _chips(visit),
                "export": _export(visit),
                "older": _older(visit, found),
            },
        )

    async def _section(self, visit: Visit, name: str, query: Mapping[str, str]) -> Section:
        """Read a part; what is refused is told in its place."""
        try:
            return await self.rows.ask(visit, name, query=query)
        except ServiceError as problem:
            return Section(status=problem.error.status, headers={}, problem=problem)

    async def export(self, visit: Visit) -> Result:
        """Hand the search out as a table."""
        said = await self.rows.ask(
            visit, "backoffice.requests_export", query={**_wanted(visit), "before": ""}
        )
        return Download(
            content=said.data, content_type=CSV, filename="requests.csv", rest=said.rest
        )


def _wanted(visit: Visit) -> dict[str, str]:
    """Return the filters of the row; days are those of São Paulo, both included."""
    wanted = {name: visit.query(name) for name in _FIELDS}
    wanted["since"] = day_begins(visit.query("init"))
    wanted["until"] = day_begins(visit.query("ends"), timedelta(days=1))
    return {name: value for name, value in wanted.items() if value}


def _chips(visit: Visit) -> Sequence[tuple[str, str, str]]:
    """Return each filter that is on: its name, its value, and the address without it."""
    on = [name for name in (*_FIELDS, "init", "ends") if visit.query(name)]
    return [
        (_NAMES[name], visit.query(name), visit.with_query(**{name: "", "before": ""}))
        for name in on
    ]


def _export(visit: Visit) -> str:
    """Write the address of the file of this search."""
    asked = {name: visit.query(name) for name in (*_FIELDS, "init", "ends") if visit.query(name)}
    return f"/panel/requests/export?{urlencode(asked)}" if asked else "/panel/requests/export"


def _older(visit: Visit, found: Section) -> str:
    """Write the address of the next page; empty on the last."""
    following = found.data["next"] if found.data else ""
    return visit.with_query(before=following) if following else ""


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = RequestPages(rows)
    return (
        Page(
            path="/requests",
            name="requests",
            summary="Show the requests that were served, and refusals by code.",
            needs=_READS,
            shows=does.list,
        ),
        Page(
            path="/requests/export",
            name="requests_export",
            summary="Download a search of requests as a table.",
            needs=_READS,
            shows=does.export,
            media=("text/csv",),
        ),
    )
