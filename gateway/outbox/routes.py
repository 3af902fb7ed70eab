"""The sandbox's mail in the back office."""

from __future__ import annotations

from gateway.http.routing import Routes
from gateway.outbox.service import Outbox


def routes(outbox: Outbox) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/outbox", "outbox", outbox.latest)
    return office
