"""The record of acts: searched, exported, proven whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.http.backoffice.oversight.audit import NDJSON
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import day_begins
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

_READS: Final = Right(Area.AUDIT, Action.READ)
_TRACES: Final = Right(Area.REQUEST_LOG, Action.READ)
_KNOWS: Final = Right(Area.USER, Action.READ)
_LIMIT: Final = 50
_FIELDS: Final = ("actor", "action", "subject", "trace_id")


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


_NAMES: Final[Mapping[str, str]] = {
    "actor": _("who"),
    "action": _("act"),
    "subject": _("subject"),
    "trace_id": _("trace"),
    "init": _("from"),
    "ends": _("until"),
}


@dataclass(frozen=True, slots=True)
class AuditPages:
    """Who did what, and that the record is whole."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show a page of acts, newest first."""
        page = _page(visit)
        query = {**_wanted(visit), "page": str(page), "limit": str(_LIMIT)}
        found = await self._section(visit, query)
        total = found.data["meta"]["total"] if found.data else 0
        listed = found.data["data"] if found.data else ()
        about = [each["subject"].partition(":")[2] for each in listed]
        data = {
            "found": found,
            "names": await self.rows.names(visit, about),
            "people": await self.rows.people(visit) if visit.may(_KNOWS) else {},
            "may_trace": visit.may(_TRACES),
            "chips": _chips(visit),
            "newer": visit.with_query(page=str(page - 1)) if page > 1 else "",
            "older": visit.with_query(page=str(page + 1)) if page * _LIMIT < total else "",
        }
        return Shown(template="access/audit.html", part="access/_audit.html", data=data)

    async def proof(self, visit: Visit) -> Result:
        """Walk the whole chain, and say whether it holds."""
        found = (await self.rows.ask(visit, "backoffice.audit_verify")).data
        return Shown(template="access/audit_proof.html", data={"found": found})

    async def export(self, visit: Visit) -> Result:
        """Hand acts out as lines of JSON, in the order of the chain."""
        query = {"after": visit.query("after")}
        said = await self.rows.ask(visit, "backoffice.audit_export", query=query)
        return Download(content=said.data, content_type=NDJSON, filename="audit.ndjson")

    async def _section(self, visit: Visit, query: Mapping[str, str]) -> Section:
        """Read the list; what is refused is told in its place."""
        try:
            return await self.rows.ask(visit, "backoffice.audit", query=query)
        except ServiceError as problem:
            return Section(status=problem.error.status, headers={}, problem=problem)


def _page(visit: Visit) -> int:
    """Read which page; what is none is the first."""
    text = visit.query("page")
    is_number = text.isascii() and text.isdigit() and len(text) < len("1000000")
    return max(1, int(text)) if is_number else 1


def _wanted(visit: Visit) -> Mapping[str, str]:
    """Return the filters of the row; days are those of São Paulo, both included."""
    wanted = {name: visit.query(name) for name in _FIELDS}
    wanted["since"] = day_begins(visit.query("init"))
    wanted["until"] = day_begins(visit.query("ends"), timedelta(days=1))
    return wanted


def _chips(visit: Visit) -> Sequence[tuple[str, str, str]]:
    """Return each filter that is on: its name, its value, and the address without it."""
    return [
        (word, visit.query(name), visit.with_query(**{name: "", "page": ""}))
        for name, word in _NAMES.items()
        if visit.query(name)
    ]


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = AuditPages(rows)
    return (
        Page(
            path="/audit",
            name="audit",
            summary="Show who did what, newest first.",
            needs=_READS,
            shows=does.list,
        ),
        Page(
            path="/audit/proof",
            name="audit_proof",
            summary="Walk the whole chain of acts, and say whether it holds.",
            needs=_READS,
            shows=does.proof,
        ),
        Page(
            path="/audit/export",
            name="audit_export",
            summary="Download acts as lines of JSON, in the order of the chain.",
            needs=_READS,
            shows=does.export,
            media=(NDJSON,),
        ),
    )
