"""The search of the back office (contract 4.3)."""

from __future__ import annotations

from gateway.core.priority import Priority
from gateway.http.route import OK
from gateway.http.routing import Routes
from gateway.search.service import Searches


def routes(searches: Searches) -> Routes:
    """Return the route."""
    office = Routes(priority=Priority.HEAVY)
    office.post("/search", "search", searches.find, status=OK)
    return office
