"""The shapes of an account's resources, on every surface alike (contract part 2)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.accounts.documents import AccountDocument
from gateway.core.schemas import Instant, KeyType, Moment
from gateway.http import common
from gateway.http.rendering import Amount
from gateway.payouts.documents import PayoutDocument

Minute = Annotated[
    str,
    Meta(
        description="UTC; empty when absent",
        pattern=r"^(\d{4}-\d{2}-\d{2} \d{2}:\d{2})?$",
        examples=["2026-09-22 13:40"],
    ),
]


_EMV = (
    "00020126390014br.gov.bcb.pix0117maria@example.com520400005303986540510.50"
    "5802BR5911Maria Silva6009Sao Paulo62070503***63041A1B"
)


class Meter(TypedDict):
    """Page number, page size and total."""

    page: int
    limit: int
    total: int


Total = common.Total


class BalanceDocument(TypedDict):
    """The balance, live from the banking provider."""

    balance: Amount
    blocked: Amount
    updated_at: Instant


class PixKeyDocument(TypedDict):
    """A PIX key."""

    id: str
    key: str
    type: Annotated[KeyType, Meta(examples=["email"])]
    status: Literal["active", "pending", "canceled"]
    created_at: Instant


class PixKeyList(TypedDict):
    """Every PIX key of the account; there is no paging."""

    data: list[PixKeyDocument]
    meta: Total


class PayerDocument(TypedDict):
    """Who pays."""

    name: str
    tax_number: str
    message: str


class PartyDocument(TypedDict):
    """A name and a tax number."""

    name: str
    tax_number: str


class LocationDocument(TypedDict):
    """Where the receiver is."""

    city: str
    zip_code: str


class QrCodeDocument(TypedDict):
    """The EMV copy-and-paste payload."""

    hash: Annotated[str, Meta(examples=[_EMV])]


class ChargeDocument(TypedDict):
    """A charge as a QR code; an anonymous one has no payer."""

    id: str
    name: str
    description: str
    reference: str
    type: Literal["Dynamic", "Static"]
    key: str
    payer: NotRequired[PayerDocument]
    receiver: PartyDocument
    location: LocationDocument
    qrcode: QrCodeDocument
    reusable: bool
    expires_at: Minute
    value: Amount
    status: Literal["Active", "Paid", "Canceled"]
    created_at: Minute


class TransactionDocument(TypedDict):
    """A charge as a transaction; pending until it is paid."""

    reference: str
    status: Literal["pending", "paid"]
    value: Amount
    created_at: Instant
    paid_at: Instant
    e2e_id: str
    payer: NotRequired[PayerDocument]


class EntryDocument(TypedDict):
    """A movement of the account."""

    id: str
    operation: Literal["Pix In", "Pix Out"]
    type: Literal["credit", "debit"]
    value: Amount
    description: str
    tags: list[str]
    document_number: int
    counterparty: PartyDocument
    created_at: Moment


class StatementDocument(TypedDict):
    """A page of movements, newest first, with the balance and the account."""

    data: list[EntryDocument]
    meta: Meter
    balance: BalanceDocument
    account: AccountDocument


class PayoutList(TypedDict):
    """A page of payouts, newest created first."""

    data: list[PayoutDocument]
    meta: Meter
