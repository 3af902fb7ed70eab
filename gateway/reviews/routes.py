"""Reviews in the back office."""

from __future__ import annotations

from gateway.core.errors import TOO_MANY_REQUESTS
from gateway.http.route import OK
from gateway.http.routing import REFUSED, Routes
from gateway.reviews.probes import UnresolvedProbes
from gateway.reviews.service import Reviews


def routes(reviews: Reviews, probes: UnresolvedProbes) -> Routes:
    """Return the routes."""
    office, asked = Routes(), (TOO_MANY_REQUESTS,)
    office.get("/reviews", "reviews", reviews.page)
    office.post("/reviews", "review_judge", reviews.judge, raises=REFUSED, status=OK)
    office.post("/reviews/withdraw", "review_withdraw", reviews.withdraw, raises=REFUSED, status=OK)
    office.get("/unresolved", "unresolved", reviews.unresolved)
    office.post("/unresolved/probe", "unresolved_probe", probes.probe_all, raises=asked, status=OK)
    return office
