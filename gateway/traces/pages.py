"""A trace id and why its call was refused; what a call would be answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.core.access import Staff
from gateway.core.calls import RawRequest
from gateway.http.panel.pages.kit import PageContext, Pages
from gateway.http.panel.pages.page import Download, Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.panel.pages.words import _
from gateway.http.rendering import dumps, pretty
from gateway.traces.model import Authorization, Explanation, QuestionBody, TraceDocument
from gateway.traces.service import Traces
from policies.validation.bodies import body

_ASKED: Final = ("client_id", "method", "path", "authorization", "address")
_JSON: Final = "application/json"
_TRACE: Final = "/panel/trace/{trace_id}"
_METHODS: Final = ("GET", "POST", "DELETE")


_SECRETS: Final = {
    Authorization.RIGHT: _("the right secret"),
    Authorization.WRONG: _("a wrong secret"),
    Authorization.ABSENT: _("no Authorization header"),
    Authorization.MALFORMED: _("a malformed header"),
    Authorization.OTHER_SCHEME: _("another scheme"),
}


def pages(traces: Traces, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("", context)

    @panel.view("/explain", "explain", traces.ask)
    async def explain(visit: Visit) -> Result:
        """Find a trace, or ask what a call would be answered."""
        trace_id = visit.query("trace")
        return Redirect(address(_TRACE, trace_id=trace_id)) if trace_id else _form(None)

    @panel.form("/explain", "explain_ask", traces.ask, shows=explain)
    async def ask(visit: Visit) -> Result:
        """Ask what a call would be answered."""
        form = visit.form
        told = {name: form[name] for name in _ASKED if form[name]}
        if form.exactly("body").strip():
            told["body"] = form.exactly("body")
        asked = RawRequest(path={}, body=dumps(told), content_type=_JSON)
        return _form(await traces.ask(panel.staff(visit), body(QuestionBody).read(asked)))

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


def _form(answer: Explanation | None) -> Shown:
    data = {"answer": answer, "methods": _METHODS, "secrets": _SECRETS}
    return Shown(template="operations/explain.html", data=data)
