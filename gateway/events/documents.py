"""Events as partners read them: their type, and ids to read by."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from gateway.core import fields
from gateway.core.fields import E2E_ID, meaning
from gateway.core.schemas import Instant, inline, instant
from gateway.events.model import Event, EventType, FeedPart

_OF_TYPE = inline(EventType)


class EventData(TypedDict):
    """
    Ids alone, of what the event is about: read it before you act.

    ``reference`` is there for `payout.*` and `pix.received`, ``e2e_id`` for `pix.*`,
    ``return_id`` for `payout.returned` and `pix.refunded`, ``client_id`` for `credential.*`.
    """

    account_id: fields.Id
    reference: NotRequired[fields.Reference]
    e2e_id: NotRequired[Annotated[str, meaning("End-to-end id of the payment received.", E2E_ID)]]
    return_id: NotRequired[
        Annotated[str, meaning("The bank's id of the return.", f"D{E2E_ID[1:]}")]
    ]
    client_id: NotRequired[fields.ClientId]


class EventDocument(TypedDict):
    """An event. More types will come: pass over those that you do not know."""

    id: Annotated[
        str,
        meaning("Names the event for ever; an event that is seen twice has the same."),
        Meta(pattern="^evt_[0-9a-f]{32}$", examples=["evt_0f1e2d3c4b5a69788796a5b4c3d2e1f0"]),
    ]
    type: Annotated[str, meaning("What it tells."), _OF_TYPE]
    timestamp: Instant
    data: EventData


class EventList(TypedDict):
    """Events in the order of the feed; ``next`` is there when ``data`` is empty, too."""

    data: Annotated[list[EventDocument], meaning("The events behind `after`, oldest first.")]
    next: Annotated[
        str,
        meaning("Give it as `after` in the next call.", "MDAwMDAwMDAwMDAwMDAwMAAAAAAAAAAqarABAA"),
    ]


def events(found: FeedPart, _who: object) -> EventList:
    """Show a part of a feed."""
    return {"data": [document(each) for each in found.events], "next": str(found.next)}


def document(found: Event) -> EventDocument:
    """Show an event."""
    data: EventData = {"account_id": found.account_id}
    if found.reference is not None:
        data["reference"] = found.reference
    if found.e2e_id is not None:
        data["e2e_id"] = found.e2e_id
    if found.return_id is not None:
        data["return_id"] = found.return_id
    if found.client_id is not None:
        data["client_id"] = found.client_id
    return {
        "id": found.id,
        "type": found.type.value,
        "timestamp": instant(found.at),
        "data": data,
    }
