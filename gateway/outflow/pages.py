"""Pages of the outflow guard: who was outside, and a subject beside its envelope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.http.panel.pages.kit import PageContext, Pages
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.outflow.service import Outflows
from policies.validation.backoffice.inputs import PAGE

_LISTED: Final = "25"


def pages(outflows: Outflows, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/outflow", context)

    @panel.view("", "outflow", outflows.page)
    async def listed(visit: Visit) -> Result:
        """Show who was outside the envelope, the last one first."""
        asked = {"page": visit.query("page"), "limit": _LISTED}
        found = await panel.find(visit, outflows.page, PAGE, asked)
        trips = found.data.items if found.data else ()
        data = {
            "found": found,
            "mode": outflows.config.mode,
            "names": await panel.names(visit, [each.subject for each in trips]),
        }
        return Shown(template="operations/outflow.html", data=data)

    @panel.view("/{scope}/{subject}", "outflow_subject", outflows.of)
    async def subject(visit: Visit) -> Result:
        """Show a credential, account or company beside its envelope, and its day."""
        scope, one = visit.parameter("scope"), visit.parameter("subject")
        found = await outflows.of(panel.staff(visit), scope, one)
        data = {"found": found, "names": await panel.names(visit, [found.subject])}
        return Shown(template="operations/outflow_subject.html", data=data)

    return panel.pages
