"""Back-office routes of the audit log."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.audit.searches import AFTER, NDJSON, SEARCH, lines
from gateway.audit.service import AuditEntry, AuditLog
from gateway.core.priority import Priority
from gateway.http.gates import StaffCaller
from gateway.http.route import Answer
from gateway.http.routing import Routes, kept


def routes(log: AuditLog) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/audit", "audit", log.search, takes={"wanted": SEARCH})
    office.get(
        "/audit/export",
        "audit_export",
        log.export,
        takes={"after": AFTER},
        shows=_file,
        media=(NDJSON,),
        priority=Priority.HEAVY,
    )
    office.get("/audit/proof", "audit_verify", log.prove, priority=Priority.HEAVY)
    return office


def _file(found: Sequence[AuditEntry], who: StaffCaller) -> Answer[bytes]:
    content = lines(found, who.staff)
    return Answer(content=content, content_type=NDJSON, headers=kept("audit.ndjson"))
