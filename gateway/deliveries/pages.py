"""Pages of deliveries: the list, one delivery, and those of an endpoint with the acts on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from gateway.core.access import Staff
from gateway.core.errors import ServiceError
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.core.windows import Listed, Paging, local_end, local_start
from gateway.deliveries.model import (
    DeliveriesAgain,
    DeliveryDocument,
    DeliverySearch,
    DeliveryState,
)
from gateway.deliveries.searches import DELIVERIES
from gateway.deliveries.service import Deliveries
from gateway.endpoints.model import EndpointSearch
from gateway.endpoints.service import Endpoints
from gateway.http.panel.pages.formats import day_of
from gateway.http.panel.pages.kit import CHOICES, PageContext, Pages, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from policies.validation.backoffice.inputs import PAGE, of_path, word_of_path

STATES: Final = tuple(each.value for each in DeliveryState)
_ONE: Final = word_of_path("delivery_id")
_ENDPOINT: Final = of_path("endpoint_id")
_OF_ENDPOINT: Final = "/endpoints/{endpoint_id}"


def pages(deliveries: Deliveries, endpoints: Endpoints, context: PageContext) -> Sequence[Page]:
    """Return the pages; their forms call the same service as the API."""
    panel = Pages("", context)

    @panel.list(
        "/deliveries",
        "deliveries",
        deliveries.page,
        takes=DELIVERIES,
        asks=_asks,
        template="deliveries/list.html",
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List deliveries, the newest event first."""
        found = await part(endpoints.page(panel.staff(visit), EndpointSearch(paging=CHOICES)))
        urls = {each.id: each.url for each in found.data.items} if found.data else {}
        return {"state": _state(visit), "states": STATES, "urls": urls}

    @panel.view("/deliveries/{delivery_id}", "delivery", deliveries.get)
    async def read(visit: Visit) -> Result:
        """Show a delivery, what is sent, and each try."""
        who = panel.staff(visit)
        found = await deliveries.get(who, _ONE.read(visit.call.asked))
        endpoint = await part(endpoints.get(who, found.endpoint_id))
        data = {
            "found": found,
            "url": endpoint.data.url if endpoint.data else "",
            "names": await panel.names(visit, [found.account_id] if found.account_id else []),
            "may_send": panel.may(visit, deliveries.again),
        }
        return Shown(template="deliveries/delivery.html", data=data)

    @panel.form("/deliveries/{delivery_id}/again", "delivery_again", deliveries.again, shows=read)
    async def again(visit: Visit) -> Result:
        """Send a delivery once more."""
        done = await deliveries.again(panel.staff(visit), _ONE.read(visit.call.asked))
        return Redirect(f"{HOME}/deliveries/{done.id}")

    @panel.view(f"{_OF_ENDPOINT}/deliveries", "endpoint_deliveries", deliveries.page)
    async def of_endpoint(visit: Visit) -> Result:
        """List the deliveries to an endpoint, with the acts on them."""
        who, endpoint_id = panel.staff(visit), _ENDPOINT.read(visit.call.asked)
        endpoint = await endpoints.get(who, endpoint_id)

        async def page(who: Staff, paging: Paging) -> Listed[DeliveryDocument]:
            return await deliveries.page(
                who, DeliverySearch(paging=paging, endpoint_id=endpoint.id)
            )

        data = {
            "found": await panel.find(visit, page, PAGE, {"page": visit.query("page")}),
            "endpoint": endpoint,
            "urls": {endpoint.id: endpoint.url},
            "may_send": panel.may(visit, deliveries.again),
        }
        return Shown(template="deliveries/of_endpoint.html", data=data)

    @panel.form(f"{_OF_ENDPOINT}/ping", "endpoint_ping", deliveries.ping, shows=of_endpoint)
    async def ping(visit: Visit) -> Result:
        """Send a ping."""
        made = await deliveries.ping(panel.staff(visit), _ENDPOINT.read(visit.call.asked))
        return Redirect(f"{HOME}/deliveries/{made.id}")

    @panel.form(
        f"{_OF_ENDPOINT}/again", "deliveries_again", deliveries.all_again, shows=of_endpoint
    )
    async def all_again(visit: Visit) -> Result:
        """Send the deliveries of some days once more."""
        endpoint_id = _ENDPOINT.read(visit.call.asked)
        wanted = DeliveriesAgain(
            since=local_start(_day(visit, "init")),
            until=local_end(_day(visit, "ends")),
            delivered=bool(visit.form["delivered"]),
        )
        done = await deliveries.all_again(panel.staff(visit), endpoint_id, wanted)
        count = f"{done.deliveries}{'+' if done.has_more else ''}"
        return Redirect(f"{HOME}/endpoints/{endpoint_id}/deliveries?again={count}")

    return panel.pages


def _state(visit: Visit) -> str:
    return visit.chosen("state", STATES)


def _asks(visit: Visit) -> Mapping[str, str]:
    names = ("endpoint_id", "company_id", "account_id", "event_id", "page")
    return {"state": _state(visit), **{name: visit.query(name) for name in names}}


def _day(visit: Visit, name: str) -> date:
    found = day_of(visit.form[name])
    if found is None:
        raise ServiceError(VALIDATION_FAILED, "form", field=name)
    return found
