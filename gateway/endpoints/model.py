"""Partners' endpoints: where events are delivered, and the orders about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final, TypedDict

from msgspec import Struct

from gateway.core import fields
from gateway.core.access import Staff
from gateway.core.fields import meaning
from gateway.core.schemas import Instant, Moment, OptionalMoment, Text, inline, instant
from gateway.core.versions import entity_tag
from gateway.core.windows import Paging
from gateway.events.model import EventType

MOST_OF_COMPANY: Final = 10
"""Each event is sent to every one of them."""
MOST_ACCOUNTS: Final = 100
"""In the list of one endpoint; more are every account of the company."""
OVERLAP: Final = timedelta(hours=24)
"""A day for a partner to roll the new secret out; deliveries carry the signatures of both."""


class EndpointState(StrEnum):
    """
    Whether events are sent to it.

    A new, changed or resumed endpoint is pending until it has answered a ping.
    """

    PENDING = "pending"
    ACTIVE = "active"
    PAUSED = "paused"


class PauseCause(StrEnum):
    """Why an endpoint is paused; NONE while it is not."""

    NONE = ""
    GAVE_UP = "gave_up"
    GONE = "gone"
    OPERATOR = "operator"


EndpointUrl = Annotated[
    str, meaning("Where events are delivered.", "https://events.example.com/pix")
]
EndpointTypes = Annotated[
    tuple[Annotated[EventType, inline(EventType)], ...],
    meaning("Types of events that it is told; empty for all.", ["payout.paid"]),
]
EndpointAccounts = Annotated[
    tuple[Text, ...],
    meaning(
        "Accounts that it is told of; empty for all of its company.",
        [fields.ID],
        max_length=MOST_ACCOUNTS,
    ),
]
FormerSecretEnd = Annotated[
    OptionalMoment, meaning("Until when deliveries are signed with the former secret too.")
]


class Endpoint(Struct, frozen=True, kw_only=True):
    """
    An endpoint of a company; never a secret.

    Attributes:
        id: A UUID.
        changed_at, changed_by: The last change by people.
        failing_since: The first failure after the last delivery that was answered.
        mailed_h: So many hours of failure were told by mail.
    """

    id: fields.Id
    company_id: fields.CompanyId
    url: EndpointUrl
    types: EndpointTypes
    account_ids: EndpointAccounts
    state: Annotated[EndpointState, inline(EndpointState), meaning("The state that it is in.")]
    paused_because: Annotated[
        PauseCause,
        inline(PauseCause),
        meaning(
            "Why it is paused: tries of three days failed, it answered 410, or an operator "
            "paused it; empty while it is not."
        ),
    ]
    created_at: Moment
    created_by: Annotated[str, meaning("Who created it.", "user:ana@example.com")]
    changed_at: Annotated[Moment, meaning("When somebody last changed it.")]
    changed_by: Annotated[str, meaning("Who last changed it.", "user:ana@example.com")]
    secret_made_at: Annotated[Moment, meaning("When its secret was made.")]
    former_secret_ends_at: FormerSecretEnd
    last_ok_at: Annotated[
        OptionalMoment, meaning("When a delivery was last answered with 2xx, to the minute.")
    ]
    failing_since: Annotated[
        OptionalMoment, meaning("Since when deliveries fail; empty while they do not.")
    ]
    mailed_h: Annotated[
        int, meaning("Hours of failure that mail has told: 0, 1 or 24, and 72 with the pause.", 0)
    ]

    @property
    def subject(self) -> str:
        """The name of the endpoint in the audit log."""
        return f"endpoint:{self.id}"

    def version(self) -> str:
        """Return the entity tag; deliveries do not change it."""
        return entity_tag(
            *("endpoint", self.id, self.url, self.state, self.paused_because),
            *(" ".join(self.types), " ".join(self.account_ids), str(self.former_secret_ends_at)),
        )


class NewEndpoint(Struct):
    """A new endpoint of a company."""

    company_id: Annotated[Text, meaning("The company that owns it, a UUID.", fields.ID)]
    url: Annotated[
        Text,
        meaning(
            "An https address with a name, on port 443 or 8443.", "https://events.example.com/pix"
        ),
    ]
    types: EndpointTypes = ()
    account_ids: EndpointAccounts = ()


class EndpointChange(Struct):
    """What an endpoint is to be: all of it."""

    url: Annotated[
        Text,
        meaning(
            "An https address with a name, on port 443 or 8443.", "https://events.example.com/pix"
        ),
    ]
    types: EndpointTypes = ()
    account_ids: EndpointAccounts = ()


class EndpointRotation(Struct):
    """For how long deliveries carry the signature of the former secret too; 0 ends it at once."""

    overlap_s: Annotated[int, meaning("Seconds.", ge=0, le=86400)] = int(OVERLAP.total_seconds())


class EndpointSecretDocument(TypedDict):
    """An endpoint's secret; it is shown only this once."""

    endpoint_id: Annotated[str, meaning("The endpoint.", fields.ID)]
    url: EndpointUrl
    secret: Annotated[
        str,
        meaning(
            "Signs each delivery (Standard Webhooks); in this answer alone.",
            "whsec_the-secret-is-shown-this-once",
        ),
    ]
    former_secret_ends_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSecret:
    """A new secret of an endpoint; it is shown once, and stored sealed."""

    endpoint: Endpoint
    secret: str = field(repr=False)

    def to_document(self, _reader: Staff) -> EndpointSecretDocument:
        """Return the document with the secret."""
        return {
            "endpoint_id": self.endpoint.id,
            "url": self.endpoint.url,
            "secret": self.secret,
            "former_secret_ends_at": instant(self.endpoint.former_secret_ends_at),
        }


class EndpointOrder(Struct, frozen=True, kw_only=True, tag="endpoint"):
    """The order of a new endpoint; it is made when its secret is collected."""

    company_id: str
    url: str
    types: tuple[EventType, ...]
    account_ids: tuple[str, ...]


class EndpointChangeOrder(Struct, frozen=True, kw_only=True, tag="endpoint_change"):
    """The order of a change, with what it replaces."""

    endpoint_id: str
    url: str
    types: tuple[EventType, ...]
    account_ids: tuple[str, ...]
    url_before: str
    types_before: tuple[EventType, ...]
    account_ids_before: tuple[str, ...]


class EndpointSecretOrder(Struct, frozen=True, kw_only=True, tag="endpoint_secret"):
    """
    The order of a new secret of an endpoint; it is made when it is collected.

    Attributes:
        secret_made_at: When the secret was made that is replaced.
    """

    endpoint_id: str
    url: str
    overlap_s: int
    secret_made_at: datetime


EndpointOrders = EndpointOrder | EndpointChangeOrder | EndpointSecretOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSearch:
    """Search parameters of endpoints; None matches any."""

    paging: Paging
    company_id: str | None = None
    state: EndpointState | None = None
