"""The outflow guard in the back office."""

from __future__ import annotations

from gateway.http.routing import ABSENT, Routes
from gateway.outflow.service import Outflows
from policies.validation.backoffice import inputs


def routes(outflows: Outflows) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/outflow", "outflow_trips", outflows.page)
    office.get(
        "/outflow/{scope}/{subject}",
        "outflow_subject",
        outflows.of,
        takes={name: inputs.word_of_path(name) for name in ("scope", "subject")},
        raises=ABSENT,
    )
    return office
