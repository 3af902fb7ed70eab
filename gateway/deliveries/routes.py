"""Deliveries to partners' endpoints in the back office."""

from __future__ import annotations

from gateway.deliveries.searches import DELIVERIES
from gateway.deliveries.service import Deliveries
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, Routes
from policies.validation.backoffice import inputs


def routes(deliveries: Deliveries) -> Routes:
    """Return the routes."""
    office, one = Routes(), "/deliveries/{delivery_id}"
    named = {"delivery_id": inputs.word_of_path("delivery_id")}
    office.get("/deliveries", "deliveries", deliveries.page, takes={"wanted": DELIVERIES})
    office.get(one, "delivery", deliveries.get, takes=named, raises=ABSENT)
    office.post(
        f"{one}/again", "delivery_again", deliveries.again, takes=named, status=OK, raises=CHANGED
    )
    office.post(
        "/endpoints/{endpoint_id}/deliveries/again",
        "deliveries_again",
        deliveries.all_again,
        status=OK,
        raises=CHANGED,
    )
    office.post("/endpoints/{endpoint_id}/ping", "endpoint_ping", deliveries.ping, raises=CHANGED)
    return office
