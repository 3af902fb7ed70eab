"""The bank's JSON documents; amounts are integer centavos, times have a zone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import msgspec

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Document(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What all have in common: the bank's names are in camel case."""


class Error(Document, frozen=True):
    """One of the bank's reasons."""

    code: str


class Refusal(Document, frozen=True):
    """The body of every refusal."""

    errors: list[Error]


class Balance(Document, frozen=True):
    """What the workspace holds; nothing is told of what is blocked."""

    amount: int
    currency: str
    updated: Instant | None = None


class Balances(Document, frozen=True):
    """The one balance of a workspace, in a list."""

    balances: list[Balance]


class Movement(Document, frozen=True):
    """A ledger transaction; money that left has a minus sign."""

    id: str
    amount: int
    created: Instant
    source: str = ""
    description: str | None = None
    tags: tuple[str, ...] = ()


class Movements(Document, frozen=True):
    """A page of the statement, newest first."""

    transactions: list[Movement]
    cursor: str | None = None


class Key(Document, frozen=True):
    """A PIX key of the workspace; its id is the key itself."""

    id: str
    type: str
    status: str
    created: Instant | None = None


class Keys(Document, frozen=True):
    """A page of them."""

    keys: list[Key]
    cursor: str | None = None


class DirectoryEntry(Document, frozen=True):
    """
    Who is behind a key, of any bank.

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


class Found(Document, frozen=True):
    """The answer to a look-up of a key."""

    key: DirectoryEntry


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


class Invoices(Document, frozen=True):
    """Some of them."""

    invoices: list[Invoice]


class OneInvoice(Document, frozen=True):
    """The one that was changed."""

    invoice: Invoice


class InvoiceLog(Document, frozen=True):
    """What happened to an invoice, and when."""

    id: str
    type: str
    created: Instant
    invoice: Invoice


class InvoiceLogs(Document, frozen=True):
    """A page of them, newest first."""

    logs: list[InvoiceLog]
    cursor: str | None = None


class InvoicePayment(Document, frozen=True):
    """How an invoice was paid."""

    amount: Unsigned
    end_to_end_id: str = ""
    name: str = ""
    tax_id: str = ""


class PaidInvoice(Document, frozen=True):
    """The answer to a look-up of it."""

    payment: InvoicePayment


class Brcode(Document, frozen=True):
    """A charge of nobody in particular; its id is the BR Code, its status is not told."""

    id: str
    uuid: str
    amount: Unsigned
    created: Instant
    expiration: Unsigned | None = None
    tags: tuple[str, ...] = ()


class Brcodes(Document, frozen=True):
    """Some of them."""

    brcodes: list[Brcode]


class Deposit(Document, frozen=True):
    """Money that came in, other than for invoices."""

    id: str
    amount: Unsigned
    created: Instant
    type: str = ""
    name: str = ""
    tax_id: str = ""
    tags: tuple[str, ...] = ()


class Deposits(Document, frozen=True):
    """A page of them, newest first."""

    deposits: list[Deposit]
    cursor: str | None = None


class Transfer(Document, frozen=True):
    """A payout; the bank tells no end-to-end id of it."""

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


class Transfers(Document, frozen=True):
    """Those ordered, or those found."""

    transfers: list[Transfer]


class Webhook(Document, frozen=True):
    """An address for callbacks."""

    id: str
    url: str


class OneWebhook(Document, frozen=True):
    """The one that was registered or removed."""

    webhook: Webhook


class Webhooks(Document, frozen=True):
    """A page of them."""

    webhooks: list[Webhook]
    cursor: str | None = None


class Tagged(Document, frozen=True):
    """What an event's log speaks of, as far as callbacks need it."""

    external_id: str | None = None
    tags: tuple[str, ...] = ()


class EventLog(Document, frozen=True):
    """The log of an event; it holds one of the three, by the event's subscription."""

    transfer: Tagged | None = None
    deposit: Tagged | None = None
    invoice: Tagged | None = None


class Event(Document, frozen=True):
    """Something that the bank tells unasked; older ones name no workspace."""

    id: str
    subscription: str
    log: EventLog
    workspace_id: str = ""


class OneEvent(Document, frozen=True):
    """The body of a callback."""

    event: Event


class MissedEvent(Document, frozen=True):
    """When an event came about that could not be delivered, and its id."""

    id: str
    created: Instant


class MissedEvents(Document, frozen=True):
    """A page of them, each as the bank wrote it."""

    events: list[msgspec.Raw]
    cursor: str | None = None


class PublicKey(Document, frozen=True):
    """A key of the bank's, in PEM."""

    content: str


class PublicKeys(Document, frozen=True):
    """Those in force."""

    public_keys: list[PublicKey]


REFUSAL: Final = msgspec.json.Decoder(Refusal)
BALANCES: Final = msgspec.json.Decoder(Balances)
MOVEMENTS: Final = msgspec.json.Decoder(Movements)
KEYS: Final = msgspec.json.Decoder(Keys)
FOUND: Final = msgspec.json.Decoder(Found)
INVOICES: Final = msgspec.json.Decoder(Invoices)
ONE_INVOICE: Final = msgspec.json.Decoder(OneInvoice)
INVOICE_LOGS: Final = msgspec.json.Decoder(InvoiceLogs)
PAID_INVOICE: Final = msgspec.json.Decoder(PaidInvoice)
BRCODES: Final = msgspec.json.Decoder(Brcodes)
DEPOSITS: Final = msgspec.json.Decoder(Deposits)
TRANSFERS: Final = msgspec.json.Decoder(Transfers)
ONE_WEBHOOK: Final = msgspec.json.Decoder(OneWebhook)
WEBHOOKS: Final = msgspec.json.Decoder(Webhooks)
ONE_EVENT: Final = msgspec.json.Decoder(OneEvent)
EVENT: Final = msgspec.json.Decoder(Event)
MISSED_EVENT: Final = msgspec.json.Decoder(MissedEvent)
MISSED_EVENTS: Final = msgspec.json.Decoder(MissedEvents)
PUBLIC_KEYS: Final = msgspec.json.Decoder(PublicKeys)
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
