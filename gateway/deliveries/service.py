"""Deliveries for people: the list, sending again, and pings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.access import Staff, requires
from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Listed
from gateway.deliveries.model import (
    DeliveriesAgain,
    Delivery,
    DeliveryDetail,
    DeliveryDocument,
    DeliverySearch,
    ReferenceDelivery,
    SentAgain,
)
from gateway.deliveries.store import DeliveryRecords
from gateway.deliveries.watch import new_ping
from gateway.endpoints.model import Endpoint, EndpointState
from gateway.endpoints.store import EndpointRecords
from gateway.security.secrets import Random

_FIELDS: Final = tuple(each for each in DeliveryDocument.__struct_fields__ if each != "account_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    """The deliveries of companies in scope."""

    records: DeliveryRecords
    endpoints: EndpointRecords
    now: Now
    random: Random

    @requires(Area.ENDPOINT, Action.READ)
    async def page(self, who: Staff, wanted: DeliverySearch) -> Listed[DeliveryDocument]:
        """List deliveries to endpoints, the newest event first; at most 10,000 are counted."""
        found = await self.records.search(wanted, who.scope)
        items = [_document(each) for each in found.items]
        return Listed(items=items, paging=found.paging, total=found.total)

    @requires(Area.ENDPOINT, Action.READ)
    async def get(self, who: Staff, delivery_id: str) -> DeliveryDetail:
        """
        Read one delivery, with what is sent and each try.

        Raises:
            ServiceError: ``NOT_FOUND``: there is none in the caller's companies.
        """
        found = await self._known(who, delivery_id)
        shown = {name: getattr(found, name) for name in _FIELDS}
        return DeliveryDetail(
            **shown,
            account_id=found.account_id or "",
            body=(found.body or b"").decode(),
            attempts=list(await self.records.tries(found.id)),
        )

    @requires(Area.ENDPOINT, Action.WRITE)
    async def again(self, who: Staff, delivery_id: str) -> DeliveryDocument:
        """
        Send a delivery once more, with the same id and body, and as many tries as a new one has.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: its endpoint was removed, or it is being sent at this moment.
        """
        found = await self._known(who, delivery_id)
        endpoint = await self.endpoints.find(found.endpoint_id)
        if endpoint is None:
            message = f"the endpoint of {found.id} was removed"
            raise RuleViolation(message, "endpoint_removed")
        event = who.acting.event("delivery.again", endpoint.subject, {"delivery": found.id})
        if not await self.records.again(found, self.now(), event):
            message = f"{found.id} is being sent at this moment"
            raise RuleViolation(message, "delivery_under_way")
        return _document(await self._known(who, found.id))

    @requires(Area.ENDPOINT, Action.WRITE)
    async def all_again(self, who: Staff, endpoint_id: str, wanted: DeliveriesAgain) -> SentAgain:
        """
        Send an endpoint's deliveries of a time once more, at most 10,000 by one order.

        Raises:
            ServiceError: ``NOT_FOUND``: there is no such endpoint in the caller's companies.
            RuleViolation: the time ends before it begins.
        """
        endpoint = await self._endpoint(who, endpoint_id)
        if wanted.until <= wanted.since:
            message = "until must be later than since"
            raise RuleViolation(message, "until_early", field="until")
        details = {
            "since": wanted.since.isoformat(),
            "until": wanted.until.isoformat(),
            "delivered": "yes" if wanted.delivered else "no",
        }
        event = who.acting.event("delivery.all_again", endpoint.subject, details)
        return await self.records.all_again(endpoint.id, wanted, self.now(), event)

    @requires(Area.ENDPOINT, Action.WRITE)
    async def ping(self, who: Staff, endpoint_id: str) -> DeliveryDocument:
        """
        Send a ping to an endpoint; a pending one is active once it has answered.

        Raises:
            ServiceError: ``NOT_FOUND``: there is no such endpoint in the caller's companies.
            RuleViolation: it is paused: a resumed endpoint is pinged by itself.
        """
        endpoint = await self._endpoint(who, endpoint_id)
        if endpoint.state is EndpointState.PAUSED:
            message = f"the endpoint {endpoint.id} is paused: resume it, which pings it"
            raise RuleViolation(message, "endpoint_paused")
        made = new_ping(endpoint, self.now(), self.random)
        event = who.acting.event("endpoint.pinged", endpoint.subject, {"delivery": made.id})
        await self.records.add_ping(made, event)
        return _document(made)

    @requires(Area.ENDPOINT, Action.READ)
    async def of_reference(
        self, who: Staff, account_id: str, reference: str
    ) -> Sequence[ReferenceDelivery]:
        """Return the deliveries of the payout of an account and a reference."""
        found = await self.records.of_reference(account_id, reference, who.scope)
        return [ReferenceDelivery(delivery=_document(each), last=last) for each, last in found]

    async def _known(self, who: Staff, delivery_id: str) -> Delivery:
        found = await self.records.find(delivery_id, who.scope)
        if found is None:
            detail = f"there is no delivery {delivery_id}" if who.person is None else ""
            raise ServiceError(NOT_FOUND, "delivery", detail=detail)
        return found

    async def _endpoint(self, who: Staff, endpoint_id: str) -> Endpoint:
        found = await self.endpoints.visible(endpoint_id.lower(), who.scope)
        if found is None:
            detail = f"there is no endpoint {endpoint_id}" if who.person is None else ""
            raise ServiceError(NOT_FOUND, "endpoint", detail=detail)
        return found


def _document(found: Delivery) -> DeliveryDocument:
    shown = {name: getattr(found, name) for name in _FIELDS}
    return DeliveryDocument(account_id=found.account_id or "", **shown)
