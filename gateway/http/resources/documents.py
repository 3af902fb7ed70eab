"""The shapes of an account's resources, on every surface alike (contract part 2)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.domain.requests.schemas import KeyType, Moment, one_of
from gateway.http import common
from gateway.http.rendering import Amount

Instant = Annotated[
    str,
    Meta(
        description="RFC 3339 in UTC; empty when absent",
        pattern=r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)?$",
        examples=["2026-09-22T13:40:11Z"],
    ),
]
Minute = Annotated[
    str,
    Meta(
        description="UTC; empty when absent",
        pattern=r"^(\d{4}-\d{2}-\d{2} \d{2}:\d{2})?$",
        examples=["2026-09-22 13:40"],
    ),
]
Day = Annotated[str, Meta(examples=["2026-11-20"], extra_json_schema={"format": "date"})]


_EMV = (
    "00020126390014br.gov.bcb.pix0117maria@example.com520400005303986540510.50"
    "5802BR5911Maria Silva6009Sao Paulo62070503***63040000"
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


class FailureDocument(TypedDict):
    """Why a payout failed."""

    code: Literal[
        "REJECTED",
        "INSUFFICIENT_FUNDS",
        "KEY_NOT_FOUND",
        "ACCOUNT_INVALID",
        "OWNER_MISMATCH",
        "LIMIT_EXCEEDED",
        "RETURNED",
        "NOT_SENT",
        "OTHER",
    ]
    message: Annotated[str, Meta(examples=["The PIX key does not exist."])]


class PixDestinationDocument(TypedDict):
    """Who is paid by PIX key, as sent; what was left out is absent."""

    name: NotRequired[Annotated[str, Meta(examples=["Maria Silva"])]]
    tax_number: str
    key_type: Annotated[KeyType, Meta(examples=["email"])]
    key: str


class BankAccountDestinationDocument(TypedDict):
    """Who is paid by bank account, as sent; what was left out is absent."""

    name: NotRequired[Annotated[str, Meta(examples=["Maria Silva"])]]
    tax_number: str
    bank_number: str
    branch: str
    account: str
    account_type: NotRequired[Literal["checking", "savings", "salary", "payment"]]


class PayoutFields(TypedDict):
    """What payouts of every method show."""

    reference: str
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


class PixPayoutDocument(PayoutFields):
    """A payout to a PIX key; only a failed one has a failure."""

    method: Literal["pix"]
    destination: PixDestinationDocument


class BankAccountPayoutDocument(PayoutFields):
    """A payout to a bank account; only a failed one has a failure."""

    method: Literal["bank_account"]
    destination: BankAccountDestinationDocument


@one_of(PixPayoutDocument, BankAccountPayoutDocument, told_by="method")
class PayoutDocument(PayoutFields):
    """A payout; only a failed one has a failure."""

    method: Literal["pix", "bank_account"]
    destination: dict[str, str]


class PayoutList(TypedDict):
    """A page of payouts, newest created first."""

    data: list[PayoutDocument]
    meta: Meter
