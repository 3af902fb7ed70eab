"""Pages of the audit log: who did what, and that the record is whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.audit.model import AuditDocument, AuditSearch
from gateway.audit.searches import AFTER, NDJSON, SEARCH, lines
from gateway.audit.service import AuditEntry, AuditLog
from gateway.core.access import Staff
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.requests.calls import RawRequest
from gateway.http.panel.pages.kit import PageContext, Pages, chips, days_asked
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.operations.bank.pages import Listed

_TRACES: Final = Right(Area.REQUEST_LOG, Action.READ)
_LIMIT: Final = 50
_FIELDS: Final = ("actor", "action", "subject", "trace_id")


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


_NAMES: Final[Mapping[str, str]] = {
    "actor": _("who"),
    "action": _("action"),
    "subject": _("subject"),
    "trace_id": _("trace"),
    "init": _("from"),
    "ends": _("until"),
}


def pages(log: AuditLog, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/audit", context)

    @panel.view("", "audit", log.search)
    async def listed(visit: Visit) -> Result:
        """Show who did what, newest first."""
        who, page, people = panel.staff(visit), _page(visit), await panel.people(visit)
        named = _named(people, visit.query("actor"))

        async def search(who: Staff, wanted: AuditSearch) -> Listed[AuditEntry]:
            if named:
                wanted = replace(wanted, actor=None, actors=named)
            return await log.search(who, wanted)

        found = await panel.find(visit, search, SEARCH, _asked(visit, page))
        total = found.data.total if found.data else 0
        acts = [each.to_document(who) for each in found.data.items] if found.data else []
        data = {
            "found": found,
            "acts": acts,
            "names": await panel.names(visit, _ids(acts)),
            "people": people,
            "may_trace": visit.may(_TRACES),
            "chips": chips(visit, _NAMES, "page"),
            "newer": visit.with_query(page=str(page - 1)) if page > 1 else "",
            "older": visit.with_query(page=str(page + 1)) if page * _LIMIT < total else "",
        }
        return Shown(template="access/audit.html", part="access/_audit.html", data=data)

    @panel.view("/proof", "audit_proof", log.prove)
    async def proof(visit: Visit) -> Result:
        """Walk the whole chain of acts, and say whether it holds."""
        found = await log.prove(panel.staff(visit))
        return Shown(template="access/audit_proof.html", data={"found": found})

    @panel.view("/export", "audit_export", log.export, media=(NDJSON,))
    async def export(visit: Visit) -> Result:
        """Download acts as lines of JSON, in the order of the chain."""
        who, after = panel.staff(visit), [visit.query("after")]
        asked = RawRequest(path={}, query={"after": after} if any(after) else {})
        content = lines(await log.export(who, AFTER.read(asked)), who)
        return Download(content=content, content_type=NDJSON, filename="audit.ndjson")

    return panel.pages


def _named(people: Mapping[str, str], text: str) -> Sequence[str]:
    """Return the actors whose name or address holds a text; none for what names an actor itself."""
    part = text.strip().casefold()
    if not part or ":" in part or "*" in part:
        return ()
    mails = {key: name for key, name in people.items() if "@" in key}
    return [
        f"user:{mail}" for mail, name in mails.items() if part in mail or part in name.casefold()
    ]


def _ids(acts: Sequence[AuditDocument]) -> Sequence[str]:
    """Return what acts were about, and what their details name."""
    details = [each.details.get(name, "") for each in acts for name in ("account", "company")]
    return [each.subject.partition(":")[2] for each in acts] + [each for each in details if each]


def _page(visit: Visit) -> int:
    """Read which page; what is none is the first."""
    text = visit.query("page")
    is_number = text.isascii() and text.isdigit() and len(text) < len("1000000")
    return max(1, int(text)) if is_number else 1


def _asked(visit: Visit, page: int) -> Mapping[str, str]:
    """Return the filters as the back office has them."""
    return {
        **{name: visit.query(name) for name in _FIELDS},
        **days_asked(visit),
        "page": str(page),
        "limit": str(_LIMIT),
    }
