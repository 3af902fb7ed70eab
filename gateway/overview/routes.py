"""The overview in the back office."""

from __future__ import annotations

from gateway.http.routing import Routes
from gateway.overview.model import Period
from gateway.overview.service import Overviews
from policies.validation.backoffice import inputs


def routes(overviews: Overviews) -> Routes:
    """Return the routes."""
    office = Routes()
    period = inputs.filters(
        lambda given: given.read("period", Period) or Period.TODAY,
        inputs.word_filter("period", Period),
    )
    office.get("/overview", "overview", overviews.read, takes={"period": period})
    return office
