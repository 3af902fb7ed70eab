"""The configuration in the back office."""

from __future__ import annotations

from gateway.configuration.service import Configuration
from gateway.http.routing import Routes


def routes(configuration: Configuration) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/config", "config", configuration.read)
    return office
