"""A trace id and why its call was refused; what a call would be answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.http.backoffice.oversight.what_if import Authorization
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Download, Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.rendering import pretty

_READS: Final = Right(Area.REQUEST_LOG, Action.READ)
_TRACE: Final = "/panel/trace/{trace_id}"
_METHODS: Final = ("GET", "POST", "DELETE")


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


_SECRETS: Final = {
    Authorization.RIGHT: _("the right secret"),
    Authorization.WRONG: _("a wrong secret"),
    Authorization.ABSENT: _("no Authorization header"),
    Authorization.MALFORMED: _("a malformed header"),
    Authorization.OTHER_SCHEME: _("another scheme"),
}


@dataclass(frozen=True, slots=True)
class TracePages:
    """What happened under a trace id, and what would happen to a call."""

    rows: RowCalls

    async def trace(self, visit: Visit) -> Result:
        """Show everything under a trace id; NOT_FOUND (404) where nothing of it is shown."""
        found = await self._capsule(visit)
        explained = found.get("explained")
        line = pretty(explained["request"]["line"]) if explained else b""
        asked = explained["request"] if explained else {}
        ids = [asked.get("client_id", ""), asked.get("account_id", "")]
        names = await self.rows.names(visit, ids)
        data = {"found": found, "line": line.decode(), "names": names}
        return Shown(template="operations/trace.html", data=data)

    async def capsule(self, visit: Visit) -> Result:
        """Hand the same out as a file."""
        found = await self._capsule(visit)
        return Download(
            content=pretty(found), content_type="application/json", filename="trace.json"
        )

    async def _capsule(self, visit: Visit) -> dict[str, Any]:
        path = {"trace_id": visit.parameter("trace_id")}
        found: dict[str, Any] = (await self.rows.ask(visit, "backoffice.trace", path=path)).data
        return found

    async def explain(self, visit: Visit) -> Result:
        """Go to a trace that was typed, or show the form of a call that nobody has made."""
        trace_id = visit.query("trace")
        if trace_id:
            return Redirect(address(_TRACE, trace_id=trace_id))
        return self._form(None)

    async def ask(self, visit: Visit) -> Result:
        """Show what the call would be answered, with the form as it was typed."""
        form = visit.form
        told = {
            name: form[name] for name in ("client_id", "method", "path", "authorization", "address")
        }
        body = {name: value for name, value in told.items() if value}
        if form.exactly("body").strip():
            body["body"] = form.exactly("body")
        said = await self.rows.ask(visit, "backoffice.explain", body=body)
        return self._form(said.data)

    def _form(self, answer: object) -> Shown:
        data = {"answer": answer, "methods": _METHODS, "secrets": _SECRETS}
        return Shown(template="operations/explain.html", data=data)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = TracePages(rows)
    return (
        Page(
            path="/explain",
            name="explain",
            summary="Find a trace, or ask what a call would be answered.",
            needs=_READS,
            shows=does.explain,
        ),
        Page(
            path="/explain",
            name="explain_ask",
            summary="Ask what a call would be answered.",
            needs=_READS,
            shows=does.explain,
            does=does.ask,
        ),
        Page(
            path="/trace/{trace_id}",
            name="trace",
            summary="Show everything under a trace id, and why its call was refused.",
            needs=_READS,
            shows=does.trace,
        ),
        Page(
            path="/trace/{trace_id}/capsule",
            name="trace_capsule",
            summary="Download everything under a trace id.",
            needs=_READS,
            shows=does.capsule,
            media=("application/json",),
        ),
    )
