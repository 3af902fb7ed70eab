"""Bodies sent to endpoints: the document of the feed without the event's id."""

from __future__ import annotations

import msgspec

from gateway.core.schemas import instant
from gateway.deliveries.model import Delivery
from gateway.events.documents import document
from gateway.events.model import Event, EventType


def body_of(delivery: Delivery) -> bytes:
    """Write the body; it is stored, and the same bytes are sent at each try."""
    return msgspec.json.encode(_ping(delivery) if delivery.is_ping else _event(delivery))


def _ping(delivery: Delivery) -> object:
    data = {"endpoint_id": delivery.endpoint_id}
    return {"type": delivery.type, "timestamp": instant(delivery.at), "data": data}


def _event(delivery: Delivery) -> object:
    event = Event(
        id=delivery.event_id,
        account_id=delivery.account_id or "",
        type=EventType(delivery.type),
        at=delivery.at,
        reference=delivery.reference,
        e2e_id=delivery.e2e_id,
        return_id=delivery.return_id,
        client_id=delivery.client_id,
    )
    return {name: part for name, part in document(event).items() if name != "id"}
