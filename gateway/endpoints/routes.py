"""Partners' endpoints in the back office."""

from __future__ import annotations

from gateway.endpoints.model import Endpoint
from gateway.endpoints.searches import ENDPOINTS
from gateway.endpoints.service import Endpoints
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, REFUSED, Routes


def routes(endpoints: Endpoints) -> Routes:
    """Return the routes."""
    office, one = Routes(), "/endpoints/{endpoint_id}"
    office.get("/endpoints", "endpoints", endpoints.page, takes={"wanted": ENDPOINTS})
    office.get(one, "endpoint", endpoints.get, version=Endpoint.version, raises=ABSENT)
    office.post("/endpoints", "endpoint_add", endpoints.add, raises=REFUSED)
    office.put(one, "endpoint_change", endpoints.change, raises=CHANGED)
    office.post(f"{one}/rotate", "endpoint_rotate", endpoints.rotate, status=OK, raises=CHANGED)
    office.post(f"{one}/pause", "endpoint_pause", endpoints.pause, status=OK, raises=CHANGED)
    office.post(f"{one}/resume", "endpoint_resume", endpoints.resume, status=OK, raises=CHANGED)
    office.delete(one, "endpoint_remove", endpoints.remove, raises=ABSENT)
    return office
