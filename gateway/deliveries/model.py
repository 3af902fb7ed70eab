"""Deliveries of events to partners' endpoints, and their tries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from msgspec import UNSET, Struct, UnsetType

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import Moment, OptionalMoment, inline
from gateway.core.windows import Paging
from gateway.endpoints.model import Endpoint
from gateway.security.secrets import Random

PING: Final = "endpoint.ping"
"""The type of a delivery that is no event of the feed: it asks whether an endpoint answers."""
COUNTED_AT_MOST: Final = 10_000
"""A longer list is not counted to its end."""
MOST_AGAIN: Final = 10_000
"""Deliveries that are sent again by one order."""

_ID: Final = "dlv_"
_ID_BYTES: Final = 16


class DeliveryState(StrEnum):
    """
    What became of a delivery.

    A dropped one was waiting when its endpoint was removed, or when the endpoint was to be told of
    it no more; a dropped ping, when another was sent.
    """

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"
    DROPPED = "dropped"


class TryFailure(StrEnum):
    """Why a try delivered nothing; NONE where it did."""

    NONE = ""
    STATUS = "status"
    REDIRECT = "redirect"
    GONE = "gone"
    TIMEOUT = "timeout"
    NAME = "name"
    ADDRESS = "address"
    TLS = "tls"
    CONNECTION = "connection"
    ANSWER = "answer"


State = Annotated[
    DeliveryState,
    inline(DeliveryState),
    meaning(
        "Waiting to be sent, delivered, given up, or dropped: its endpoint was removed or is told "
        "of it no more, or another ping followed."
    ),
]
EventId = Annotated[
    str,
    meaning("The event, as in the feed; `webhook-id` of each try.", f"evt_{'0f1e2d3c' * 4}"),
]
DeliveryId = Annotated[str, meaning("Names the delivery.", f"dlv_{'1a2b3c4d' * 4}")]


class DeliveryTry(Struct, frozen=True, kw_only=True):
    """One try of a delivery; nothing of the answer but its status."""

    number: Annotated[int, meaning("Counts from 1.")]
    at: Moment
    status: Annotated[
        int | UnsetType, meaning("Status of the answer; absent without one.", 200)
    ] = UNSET
    failure: Annotated[
        TryFailure,
        inline(TryFailure),
        meaning(
            "Why it delivered nothing: an answer other than 2xx (`status`), a redirect, 410 "
            "(`gone`), no whole answer in time, a name that leads to no public address, an "
            "`address` that is not allowed, a certificate that is not valid, a connection that "
            "failed, or an answer that is not HTTP. Empty where it was delivered."
        ),
    ]
    ms: Annotated[
        int,
        meaning(
            "Milliseconds from the look-up of the name to the answer; 0 where nobody was called.",
            84,
        ),
    ]


class Delivery(Struct, frozen=True, kw_only=True):
    """
    An event for an endpoint.

    Attributes:
        at: Of the event.
        body: Sent at each try; None before the first.
        tries_before: Of ``tries``, those before it was last sent again by hand.
        claimed_by, claimed_until: The process that sends it now.
    """

    id: str
    endpoint_id: str
    company_id: str
    is_ping: bool
    event_id: str
    type: str
    at: datetime
    account_id: str | None = None
    reference: str | None = None
    e2e_id: str | None = None
    return_id: str | None = None
    client_id: str | None = None
    body: bytes | None = None
    state: DeliveryState = DeliveryState.WAITING
    tries: int = 0
    tries_before: int = 0
    next_at: datetime | None = None
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    ended_at: datetime | None = None


class DeliveryDocument(Struct, frozen=True, kw_only=True):
    """An event for an endpoint, and where it stands."""

    id: DeliveryId
    endpoint_id: Annotated[str, meaning("The endpoint, which may be removed by now.", fields.ID)]
    company_id: fields.CompanyId
    account_id: fields.AccountId
    event_id: EventId
    type: Annotated[str, meaning("Type of the event, or `endpoint.ping`.", "payout.paid")]
    at: Annotated[Moment, meaning("When it happened.")]
    state: State
    tries: Annotated[int, meaning("How often it was sent.")]
    next_at: Annotated[OptionalMoment, meaning("When it is sent next; absent once it has ended.")]
    ended_at: Annotated[OptionalMoment, meaning("When it was delivered, given up or dropped.")]


class DeliveryDetail(DeliveryDocument, frozen=True, kw_only=True):
    """A delivery with what is sent, and each try, oldest first."""

    body: Annotated[
        str,
        meaning(
            "The body, the same at each try; empty before the first.", '{"type":"payout.paid"}'
        ),
    ]
    attempts: Annotated[list[DeliveryTry], meaning("Each try, oldest first.")]


class DeliveriesAgain(Struct):
    """Which deliveries of an endpoint are sent again."""

    since: Annotated[Moment, meaning("Of events since then.")]
    until: Annotated[Moment, meaning("Of events before then.")]
    delivered: Annotated[
        bool, meaning("Send those that were delivered, too; else those that were given up alone.")
    ] = False


class SentAgain(Struct, frozen=True, kw_only=True):
    """How many deliveries are sent again."""

    deliveries: Annotated[int, meaning("How many; at most 10,000 by one order.")]
    has_more: Annotated[bool, meaning("Whether there are more: order it again.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceDelivery:
    """What an endpoint was told, and its last try; None before the first."""

    delivery: DeliveryDocument
    last: DeliveryTry | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySearch:
    """Search parameters of deliveries; None matches any."""

    paging: Paging
    endpoint_id: str | None = None
    company_id: str | None = None
    account_id: str | None = None
    event_id: str | None = None
    type: str | None = None
    state: DeliveryState | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """
    What came of one try.

    Attributes:
        retry_after: The answer's wish, if it has one.
    """

    at: datetime
    status: int | None
    failure: TryFailure
    ms: int
    retry_after: timedelta | None = None

    @property
    def is_delivered(self) -> bool:
        """Return whether the endpoint took it."""
        return self.failure is TryFailure.NONE


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery that this process is to send, and its endpoint as it was at the claim."""

    delivery: Delivery
    endpoint: Endpoint


def new_delivery_id(random: Random) -> str:
    """Make ``dlv_`` and 32 hexadecimal digits, as the database does for an event."""
    return _ID + random(_ID_BYTES).hex()
