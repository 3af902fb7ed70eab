"""Kill switches in the back office."""

from __future__ import annotations

from gateway.core.priority import Priority
from gateway.http.routing import ABSENT, REFUSED, Routes
from gateway.stops.service import Stops


def routes(stops: Stops) -> Routes:
    """Return the routes."""
    office = Routes(priority=Priority.STOPS)
    office.get("/stops", "stops", stops.page)
    office.get("/stops/ended", "stops_ended", stops.ended)
    office.post("/stops", "stop_create", stops.create, raises=REFUSED)
    office.delete("/stops/{stop_id}", "stop_lift", stops.lift, raises=(*ABSENT, *REFUSED))
    return office
