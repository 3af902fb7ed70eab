"""What people and chats are told outside the panel: kinds, choices, chats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

from msgspec import UNSET, Struct, UnsetType

from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.schemas import Moment, Name, OptionalMoment, Text, inline
from gateway.core.windows import Paging
from gateway.deliveries.model import TryFailure


class Kind(StrEnum):
    """
    Kinds of occasions.

    ORDER: an order can be decided. OPINION: a payout in review lacks an opinion. SECRET: an
    approved order's secret can be collected. OUTFLOW: payouts are outside the envelope of the
    outflow guard. BANK: the calls to a bank fail, or go well again. FOREIGN_DEBIT: a debit at a
    bank has no order of ours. DAY: a day can be signed.
    """

    ORDER = "order"
    OPINION = "opinion"
    SECRET = "secret"  # noqa: S105 - a word
    OUTFLOW = "outflow"
    BANK = "bank"
    FOREIGN_DEBIT = "foreign_debit"
    DAY = "day"


class Way(StrEnum):
    """How a message reaches its recipient."""

    MAIL = "mail"
    PUSH = "push"
    CHAT = "chat"


class State(StrEnum):
    """Where a notification stands; DROPPED: it no longer held, or was no longer wanted."""

    WAITING = "waiting"
    SENT = "sent"
    DROPPED = "dropped"
    FAILED = "failed"


class ChatFormat(StrEnum):
    """The body that a chat takes: ``{"text": …}``, or a message with a card (Teams Workflows)."""

    TEXT = "text"
    TEAMS = "teams"


LOOKS_BACK: Final = timedelta(days=30)
"""What began earlier is told nobody any more; notifications are kept longer."""
BRIEF: Final = frozenset({Kind.SECRET})
"""Kinds that end within minutes: a message in the evening would come too late."""
OF_ORDERS: Final = frozenset({Kind.ORDER, Kind.SECRET})
"""Kinds whose subject is an order's id."""
NOT_FOR_CHATS: Final = frozenset({Kind.SECRET})
"""Kinds that concern one person."""
MOST_CHATS: Final = 20
"""Of a company, and of the operators."""
MOST_SUBSCRIPTIONS: Final = 10
"""Of a person; the oldest goes."""

TimeOfDay = Annotated[
    str,
    meaning(
        "A time of day in São Paulo; empty for none.",
        "20:00",
        pattern="^(([01][0-9]|2[0-3]):[0-5][0-9])?$",
    ),
]


class Choice(Struct, frozen=True, kw_only=True):
    """
    A person's choice.

    Attributes:
        at_once: Kinds that are mailed at once.
        digest: Kinds that are mailed together at 18:00 in São Paulo.
        push: Kinds that are pushed to the person's browsers.
        quiet_from, quiet_until: In between, only what is urgent is sent; both empty for no quiet
            hours.
    """

    at_once: tuple[Kind, ...] = (Kind.ORDER, Kind.OUTFLOW)
    digest: tuple[Kind, ...] = ()
    push: tuple[Kind, ...] = (Kind.ORDER, Kind.OUTFLOW)
    quiet_from: TimeOfDay = "20:00"
    quiet_until: TimeOfDay = "08:00"

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return all kinds that are mailed."""
        return frozenset({*self.at_once, *self.digest})


DEFAULT: Final = Choice()


class PushSubscription(Struct, frozen=True, kw_only=True):
    """
    A browser that is subscribed to push messages.

    Attributes:
        browser: Its ``User-Agent``.
        last_ok_at: When its push service took a message last.
    """

    id: str
    user_id: str
    browser: str
    created_at: datetime
    last_ok_at: datetime | None = None


class NewSubscription(Struct, frozen=True, kw_only=True):
    """
    A browser's subscription, as its script gives it.

    Attributes:
        endpoint: The address at its push service; a secret.
        public, auth: Keys in base64url.
    """

    endpoint: Annotated[str, meaning("Address at the push service.", max_length=1_000)]
    public: Annotated[str, meaning("Public key of the browser.", max_length=100)]
    auth: Annotated[str, meaning("Secret of the subscription.", max_length=50)]


ChatForm = Annotated[
    ChatFormat,
    inline(ChatFormat),
    meaning("The body of its messages: a text, or a card for Teams (Workflows)."),
]
ChatKinds = Annotated[
    tuple[Annotated[Kind, inline(Kind)], ...], meaning("What it is told of.", ["order", "bank"])
]


class Chat(Struct, frozen=True, kw_only=True):
    """
    A room of a company's or the operators' chat.

    Attributes:
        company_id: None for the operators' chat, which is told of every company.
        host: Of the address, whose rest is a secret and is not shown.
    """

    id: fields.Id
    company_id: Annotated[
        str | None, meaning("The company; empty for the operators' chat.", fields.ID)
    ]
    name: Annotated[str, meaning("Name, as people know it.", "Financeiro")]
    format: ChatForm
    host: Annotated[str, meaning("Of the address, whose rest is a secret.", "hooks.example.com")]
    kinds: ChatKinds
    language: Annotated[str, meaning("Of the messages.", "pt-BR")]
    created_at: Annotated[Moment, meaning("When it was added.")]
    created_by: Annotated[str, meaning("Who added it.", "user:maria@example.com")]
    last_ok_at: Annotated[OptionalMoment, meaning("When it took a message last.")]
    failing_since: Annotated[OptionalMoment, meaning("Since when it takes none.")]

    @property
    def recipient(self) -> str:
        """Return the chat's name in notifications and in the audit log."""
        return f"chat:{self.id}"


class NewChat(Struct, frozen=True, kw_only=True):
    """
    A room to add.

    Attributes:
        company_id: Empty for the operators' chat.
    """

    name: Annotated[Name, meaning("Name, as people know it.", "Financeiro")]
    webhook: Annotated[
        str,
        meaning(
            "Address of the chat's webhook; a secret.",
            "https://hooks.chat.example.com/services/T0/B0/x",
            max_length=1_000,  # those of Teams Workflows have some 400
        ),
    ]
    kinds: ChatKinds
    company_id: Annotated[Text, meaning("The company; empty for operators.", fields.ID)] = ""
    format: ChatForm = ChatFormat.TEXT
    language: Annotated[Text, meaning("Of the messages: pt-BR or en.", "pt-BR")] = "pt-BR"


@dataclass(frozen=True, slots=True)
class ChatSearch:
    """Which chats; of one company, or of all in scope and the operators."""

    paging: Paging
    company_id: str | None = None


class ChatTry(Struct, frozen=True, kw_only=True):
    """What came of a test message to a chat."""

    at: Annotated[Moment, meaning("When it was sent.")]
    failure: Annotated[
        TryFailure,
        inline(TryFailure),
        meaning(
            "Why the chat did not take it, as of deliveries: an answer other than 2xx (`status`), "
            "a redirect, 410 (`gone`), no whole answer in time, a name that leads to no public "
            "address, an `address` that is not allowed, a certificate that is not valid, a "
            "connection that failed, or an answer that is not HTTP. Empty where it was taken."
        ),
    ]
    status: Annotated[
        int | UnsetType, meaning("Status of the answer; absent without one.", 200)
    ] = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion:
    """
    Something that a person is told of.

    Attributes:
        subject: What it is about, the same as long as it holds; with ``kind`` it is unique.
        record: The key by which ``own_work`` finds it; the subject where there is no other.
        word: Which of the kind's sentences says it.
        name: A name of ours in that sentence: a bank's, or a day.
        link: The page's path.
        ends_at: When nobody can act any more; None where that has no end.
        is_urgent: It is sent in quiet hours too.
        companies: Whose it is; empty for people and chats of every company alone.
    """

    kind: Kind
    subject: str
    record: tuple[object, ...] = ()
    word: str = ""
    name: str = ""
    link: str
    ends_at: datetime | None = None
    is_urgent: bool = False
    companies: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[Kind, str]:
        """Return what identifies it."""
        return self.kind, self.subject


class Notification(Struct, frozen=True, kw_only=True):
    """
    An occasion on its way to a recipient.

    Attributes:
        recipient: ``user:`` or ``chat:`` and its id.
        due_at: It is not sent before.
        tries: How often it was sent in vain.
    """

    id: str
    recipient: str
    kind: Kind
    subject: str
    way: Way
    created_at: datetime
    due_at: datetime
    state: State = State.WAITING
    tries: int = 0
    claimed_until: datetime | None = None

    @property
    def key(self) -> tuple[Kind, str]:
        """Return what identifies its occasion."""
        return self.kind, self.subject
