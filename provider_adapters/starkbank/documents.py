"""The bank's JSON documents; amounts are integer centavos, times have a zone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import msgspec

from provider_adapters.kit.answers import inside

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Document(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Base of all documents: the bank's names are in camel case."""


class Error(Document, frozen=True):
    """One of the bank's reasons."""

    code: str


class Balance(Document, frozen=True):
    """The workspace's balance; blocked money is not reported."""

    amount: int
    currency: str
    updated: Instant | None = None


class Movement(Document, frozen=True):
    """A ledger transaction; money that left has a minus sign."""

    id: str
    amount: int
    created: Instant
    source: str = ""
    description: str | None = None
    tags: tuple[str, ...] = ()


class Key(Document, frozen=True):
    """A PIX key of the workspace; its id is the key itself."""

    id: str
    type: str
    status: str
    created: Instant | None = None


class DirectoryEntry(Document, frozen=True):
    """
    The owner of a key, of any bank.

    Branch and account are encrypted: to be passed on in a transfer, never to be shown.
    """

    id: str
    type: str
    name: str
    ispb: str
    branch_code: str
    account_number: str
    tax_id: str = ""
    bank_name: str | None = None
    account_type: str | None = None


class Invoice(Document, frozen=True):
    """A charge that names its payer; ``due`` is an instant or a day."""

    id: str
    amount: Unsigned
    status: str
    brcode: str
    created: Instant
    name: str = ""
    tax_id: str = ""
    nominal_amount: Unsigned | None = None
    due: str | None = None
    expiration: Unsigned | None = None
    tags: tuple[str, ...] = ()


class InvoiceLog(Document, frozen=True):
    """An event of an invoice, with its time."""

    id: str
    type: str
    created: Instant
    invoice: Invoice


class InvoicePayment(Document, frozen=True):
    """How an invoice was paid."""

    amount: Unsigned
    end_to_end_id: str = ""
    name: str = ""
    tax_id: str = ""


class Brcode(Document, frozen=True):
    """An anonymous charge; its id is the BR Code, its status is not reported."""

    id: str
    uuid: str
    amount: Unsigned
    created: Instant
    expiration: Unsigned | None = None
    tags: tuple[str, ...] = ()


class Deposit(Document, frozen=True):
    """Money that came in, other than for invoices."""

    id: str
    amount: Unsigned
    created: Instant
    type: str = ""
    name: str = ""
    tax_id: str = ""
    tags: tuple[str, ...] = ()


class Transfer(Document, frozen=True):
    """A payout; the bank reports no end-to-end id."""

    id: str
    amount: int
    status: str
    external_id: str | None = None
    tax_id: str = ""
    bank_code: str = ""
    branch_code: str = ""
    account_number: str = ""
    updated: Instant | None = None
    tags: tuple[str, ...] = ()


class Webhook(Document, frozen=True):
    """An address for callbacks."""

    id: str
    url: str


class Tagged(Document, frozen=True):
    """
    The subject of an event's log, as far as callbacks need it.

    A field, or a tag, that is of another form does not hide the others.

    Attributes:
        external_id: A text.
        tags: A list of texts.
    """

    external_id: msgspec.Raw = msgspec.Raw(b"null")
    tags: msgspec.Raw = msgspec.Raw(b"[]")


class EventLog(Document, frozen=True):
    """The log of an event; it holds one of the three, by the event's subscription."""

    transfer: Tagged | None = None
    deposit: Tagged | None = None
    invoice: Tagged | None = None


class Event(Document, frozen=True):
    """An event that the bank sends; older ones name no workspace."""

    id: str = ""
    subscription: str = ""
    log: EventLog = EventLog()
    workspace_id: str = ""


class MissedEvent(Document, frozen=True):
    """When an event came about that could not be delivered, and its id."""

    id: str
    created: Instant


class PublicKey(Document, frozen=True):
    """A key of the bank's, in PEM."""

    content: str


REFUSAL: Final = inside("errors", list[Error])
BALANCES: Final = inside("balances", list[Balance])
MOVEMENTS: Final = inside("transactions", list[Movement], "cursor")
KEYS: Final = inside("keys", list[Key], "cursor")
FOUND: Final = inside("key", DirectoryEntry)
INVOICES: Final = inside("invoices", list[Invoice])
ONE_INVOICE: Final = inside("invoice", Invoice)
INVOICE_LOGS: Final = inside("logs", list[InvoiceLog], "cursor")
PAID_INVOICE: Final = inside("payment", InvoicePayment)
BRCODES: Final = inside("brcodes", list[Brcode])
DEPOSITS: Final = inside("deposits", list[Deposit], "cursor")
TRANSFERS: Final = inside("transfers", list[Transfer])
ONE_WEBHOOK: Final = inside("webhook", Webhook)
WEBHOOKS: Final = inside("webhooks", list[Webhook], "cursor")
ONE_EVENT: Final = inside("event", Event)
EVENT: Final = msgspec.json.Decoder(Event)
TEXT: Final = msgspec.json.Decoder(str)
PARTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
MISSED_EVENT: Final = msgspec.json.Decoder(MissedEvent)
MISSED_EVENTS: Final = inside("events", list[msgspec.Raw], "cursor")
PUBLIC_KEYS: Final = inside("publicKeys", list[PublicKey])
ANY: Final = msgspec.json.Decoder()

HARMLESS: Final = frozenset(
    {
        "accountType",
        "amount",
        "balance",
        "bankCode",
        "bankName",
        "code",
        "created",
        "currency",
        "due",
        "endToEndId",
        "expiration",
        "fee",
        "fine",
        "interest",
        "isDelivered",
        "ispb",
        "nominalAmount",
        "status",
        "subscription",
        "type",
        "updated",
    }
)
"""The fields a transcript may show: no names, tax numbers, keys, tags, ids or free text."""
