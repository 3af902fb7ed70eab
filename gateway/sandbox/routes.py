"""The sandbox bank's tools in the back office; absent in production."""

from __future__ import annotations

from gateway.http.route import OK
from gateway.http.routing import REFUSED, Routes
from gateway.sandbox.service import SandboxTools


def routes(tools: SandboxTools) -> Routes:
    """Return the routes."""
    office, faults = Routes(raises=REFUSED, status=OK), "/sandbox/faults"
    office.get("/sandbox", "sandbox", tools.state)
    office.post("/sandbox/payments", "sandbox_pay", tools.pay)
    office.post("/sandbox/top-ups", "sandbox_top_up", tools.top_up)
    office.post(faults, "sandbox_fault", tools.inject)
    office.delete(faults, "sandbox_faults_clear", tools.clear)
    office.post("/sandbox/clock", "sandbox_clock", tools.move_clock)
    return office
