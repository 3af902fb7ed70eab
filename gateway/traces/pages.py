"""Pages of a trace id: all records under it, and the explanation of a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.core.access import Staff
from gateway.http.panel.pages.kit import PageContext, Pages
from gateway.http.panel.pages.page import Download, Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.rendering import pretty
from gateway.traces.model import TraceDocument
from gateway.traces.service import Traces

_JSON: Final = "application/json"
_TRACE: Final = "/panel/trace/{trace_id}"


def pages(traces: Traces, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("", context)
    search = Shown(template="operations/explain.html", data={})

    @panel.view("/explain", "explain", traces.read)
    async def explain(visit: Visit) -> Result:
        """Find a trace by its id."""
        trace_id = visit.query("trace")
        return Redirect(address(_TRACE, trace_id=trace_id)) if trace_id else search

    @panel.view("/trace/{trace_id}", "trace", traces.read)
    async def trace(visit: Visit) -> Result:
        """Show everything under a trace id, and why its call was refused."""
        found = await _read(traces, panel.staff(visit), visit)
        request = found["explained"].request if "explained" in found else None
        ids = [request.client_id, request.account_id] if request else []
        line = pretty(request.line).decode() if request else ""
        names = await panel.names(visit, ids)
        data = {"found": found, "line": line, "names": names}
        return Shown(template="operations/trace.html", data=data)

    @panel.view("/trace/{trace_id}/capsule", "trace_capsule", traces.read, media=(_JSON,))
    async def capsule(visit: Visit) -> Result:
        """Download everything under a trace id."""
        content = pretty(await _read(traces, panel.staff(visit), visit))
        return Download(content=content, content_type=_JSON, filename="trace.json")

    return panel.pages


async def _read(traces: Traces, who: Staff, visit: Visit) -> TraceDocument:
    """Read everything under a trace id; NOT_FOUND (404) where nothing of it is shown."""
    return (await traces.read(who, visit.parameter("trace_id"))).to_document(who)
