"""Traces and explanations in the back office."""

from __future__ import annotations

from gateway.http.routing import ABSENT, Routes
from gateway.traces.service import Traces
from policies.validation.backoffice import inputs


def routes(traces: Traces) -> Routes:
    """Return the routes."""
    office, named = Routes(), {"trace_id": inputs.word_of_path("trace_id")}
    path = "/traces/{trace_id}"
    office.get(path, "trace", traces.read, takes=named, raises=ABSENT)
    office.get(
        f"{path}/explanation", "trace_explanation", traces.explain, takes=named, raises=ABSENT
    )
    return office
