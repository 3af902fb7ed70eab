"""The shapes of an account's resources, on every surface alike (contract part 2)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.http.json import Amount

Instant = Annotated[
    str,
    Meta(
        description="RFC 3339 in UTC; empty when absent",
        pattern=r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)?$",
        examples=["2026-09-22T13:40:11Z"],
    ),
]
Moment = Annotated[
    datetime,
    Meta(
        tz=True,
        description="RFC 3339 in UTC",
        examples=["2026-09-22T13:40:11Z"],
        extra_json_schema={"pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"},
    ),
]
"""An instant in UTC that is never absent; ``dumps`` writes it as ``instant`` would."""
Minute = Annotated[
    str,
    Meta(
        description="UTC; empty when absent",
        pattern=r"^(\d{4}-\d{2}-\d{2} \d{2}:\d{2})?$",
        examples=["2026-09-22 13:40"],
    ),
]
Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-09-22"])]


class Meter(TypedDict):
    """Where a page lies."""

    page: int
    limit: int
    total: int


class Total(TypedDict):
    """How many there are."""

    total: int


class BalanceDocument(TypedDict):
    """The balance, live from the banking provider."""

    balance: Amount
    blocked: Amount
    updated_at: Instant


class AccountDocument(TypedDict):
    """The account's own bank coordinates."""

    bank_number: str
    ispb: str
    branch: str
    account: str
    name: str
    tax_number: str


class PixKeyDocument(TypedDict):
    """A PIX key."""

    id: str
    key: str
    type: Literal["cpf", "cnpj", "email", "phone", "evp"]
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


class CodeDocument(TypedDict):
    """The EMV copy-and-paste payload."""

    hash: str


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
    qrcode: CodeDocument
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


class FailureDocument(TypedDict):
    """Why a payout failed."""

    code: str
    message: str


class PayoutDocument(TypedDict):
    """A payout; only a failed one has a failure."""

    reference: str
    method: Literal["pix", "bank_account"]
    status: Literal["processing", "paid", "failed"]
    value: Amount
    date: Day
    description: str
    e2e_id: str
    created_at: Instant
    updated_at: Instant
    settled_at: Instant
    failure: NotRequired[FailureDocument]
    origin: AccountDocument
    destination: dict[str, str]


class PayoutList(TypedDict):
    """A page of payouts, newest created first."""

    data: list[PayoutDocument]
    meta: Meter
