"""Back-office routes of callbacks."""

from __future__ import annotations

from gateway.callbacks.searches import SEARCH
from gateway.callbacks.service import Callbacks
from gateway.http.routing import Routes


def routes(callbacks: Callbacks) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/webhooks", "webhooks", callbacks.search, takes={"wanted": SEARCH})
    return office
