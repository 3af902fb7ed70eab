"""Pages of the audit log: acts, and the proof of the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.audit.model import AuditDocument
from gateway.audit.searches import AFTER, NDJSON, SEARCH, lines
from gateway.audit.service import AuditLog
from gateway.core.calls import RawRequest
from gateway.core.permissions import Action
from gateway.core.priority import Priority
from gateway.core.rights import Area, Right
from gateway.http.panel.pages.kit import PageContext, Pages, chips, days_asked, page_asked
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.pages.words import _

_TRACES: Final = Right(Area.REQUEST_LOG, Action.READ)
_LIMIT: Final = 50
_FIELDS: Final = ("actor", "action", "subject", "trace_id")


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
        """List acts, newest first."""
        who, page = panel.staff(visit), page_asked(visit)
        found = await panel.find(visit, log.search, SEARCH, _asked(visit, page))
        acts = [each.to_document(who) for each in found.data.items] if found.data else []
        acts.sort(key=lambda each: (each.at, each.number), reverse=True)
        data = {
            "found": found,
            "acts": acts,
            "names": await panel.names(visit, _ids(acts)),
            "people": await panel.people(visit),
            "may_trace": visit.may(_TRACES),
            "chips": chips(visit, _NAMES),
            "may_export": panel.may(visit, log.export),
        }
        return Shown(template="access/audit.html", part="access/_audit.html", data=data)

    @panel.view("/proof", "audit_proof", log.prove, priority=Priority.HEAVY)
    async def proof(visit: Visit) -> Result:
        """Verify the whole log, and show the result."""
        found = await log.prove(panel.staff(visit))
        return Shown(template="access/audit_proof.html", data={"found": found})

    @panel.view("/export", "audit_export", log.export, media=(NDJSON,), priority=Priority.HEAVY)
    async def export(visit: Visit) -> Result:
        """Download acts as lines of JSON, in the order of the log."""
        who, after = panel.staff(visit), [visit.query("after")]
        asked = RawRequest(path={}, query={"after": after} if any(after) else {})
        content = lines(await log.export(who, AFTER.read(asked)), who)
        return Download(content=content, content_type=NDJSON, filename="audit.ndjson")

    return panel.pages


def _ids(acts: Sequence[AuditDocument]) -> Sequence[str]:
    details = [each.details.get(name, "") for each in acts for name in ("account", "company")]
    return [each.subject.partition(":")[2] for each in acts] + [each for each in details if each]


def _asked(visit: Visit, page: int) -> Mapping[str, str]:
    """Return the filters in the back office's form."""
    return {
        **{name: visit.query(name) for name in _FIELDS},
        **days_asked(visit),
        "page": str(page),
        "limit": str(_LIMIT),
    }
