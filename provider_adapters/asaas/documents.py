"""
The bank's JSON documents.

Amounts are JSON numbers in reais, read exactly. Dates are ``2026-11-22``, or with a time
``2026-11-22 14:30:00``, and name no zone. Source: asaasdev/asaas-api-sdk-java 0641522, which calls
every field optional; those without which an answer says nothing are required here.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import msgspec

from provider_adapters.kit.answers import inside
from provider_adapters.kit.money import JsonNumber

Row = TypeVar("Row")
_NOTHING: Final = msgspec.Raw(b"0")


class Error(msgspec.Struct, frozen=True):
    """One of the reasons of a refusal."""

    code: str


class Listing(msgspec.Struct, Generic[Row], frozen=True, rename="camel"):
    """A page of a list."""

    data: list[Row]
    has_more: bool | None = None


class Movement(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A movement; the amount of a debit is below zero."""

    id: str | int
    value: JsonNumber
    type: str
    date: str
    description: str | None = None
    payment_id: str | None = None


class Key(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A PIX key; one that is awaited may have no value yet."""

    id: str
    key: str | None = None
    type: str
    status: str
    date_created: str | None = None


class Customer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The requested payer."""

    id: str
    name: str | None = None
    cpf_cnpj: str | None = None
    deleted: bool = False


class Payment(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A charge."""

    id: str
    customer: str | None = None
    value: JsonNumber
    status: str
    external_reference: str | None = None
    date_created: str | None = None
    payment_date: str | None = None
    client_payment_date: str | None = None
    confirmed_date: str | None = None
    pix_transaction: str | None = None
    deleted: bool = False


class QrCode(msgspec.Struct, frozen=True, rename="camel"):
    """The QR code of a charge."""

    payload: str
    expiration_date: str | None = None


class Removed(msgspec.Struct, frozen=True):
    """The answer to a removal."""

    id: str
    deleted: bool


class Party(msgspec.Struct, frozen=True, rename="camel"):
    """The other side of a transfer."""

    name: str | None = None
    cpf_cnpj: str | None = None


class PixTransaction(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Money that came in or went out by Pix."""

    id: str
    end_to_end_identifier: str | None = None
    value: JsonNumber
    refunded_value: JsonNumber = _NOTHING
    effective_date: str | None = None
    date_created: str | None = None
    status: str
    type: str
    description: str | None = None
    external_account: Party | None = None
    external_reference: str | None = None


class BankNumber(msgspec.Struct, frozen=True):
    """A bank's number."""

    code: str | None = None


class BankAccount(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Destination account of a transfer."""

    bank: BankNumber | None = None
    agency: str | None = None
    account: str | None = None
    account_digit: str | None = None
    pix_address_key: str | None = None


class Transfer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A payout."""

    id: str
    value: JsonNumber
    status: str
    effective_date: str | None = None
    end_to_end_identifier: str | None = None
    external_reference: str | None = None
    bank_account: BankAccount | None = None


class Webhook(msgspec.Struct, frozen=True):
    """An address for callbacks."""

    id: str
    url: str


ERRORS: Final = inside("errors", list[Error])
BALANCE: Final = inside("balance", JsonNumber)
MOVEMENTS: Final = msgspec.json.Decoder(Listing[Movement])
KEY: Final = msgspec.json.Decoder(Key)
KEYS: Final = msgspec.json.Decoder(Listing[Key])
CUSTOMER: Final = msgspec.json.Decoder(Customer)
CUSTOMERS: Final = msgspec.json.Decoder(Listing[Customer])
PAYMENT: Final = msgspec.json.Decoder(Payment)
PAYMENTS: Final = msgspec.json.Decoder(Listing[Payment])
QR_CODE: Final = msgspec.json.Decoder(QrCode)
REMOVED: Final = msgspec.json.Decoder(Removed)
PIX_TRANSACTION: Final = msgspec.json.Decoder(PixTransaction)
PIX_TRANSACTIONS: Final = msgspec.json.Decoder(Listing[PixTransaction])
TRANSFER: Final = msgspec.json.Decoder(Transfer)
WEBHOOK: Final = msgspec.json.Decoder(Webhook)
WEBHOOKS: Final = msgspec.json.Decoder(Listing[Webhook])

HARMLESS: Final = frozenset(
    {
        "apiVersion",
        "authorized",
        "balance",
        "bankAccountType",
        "billingType",
        "code",
        "date",
        "dateCreated",
        "deleted",
        "dueDate",
        "effectiveDate",
        "enabled",
        "endToEndIdentifier",
        "expirationDate",
        "hasMore",
        "interrupted",
        "limit",
        "netValue",
        "notificationDisabled",
        "object",
        "offset",
        "operationType",
        "paymentDate",
        "pixAddressKeyType",
        "refundedValue",
        "sendType",
        "status",
        "totalCount",
        "transferFee",
        "type",
        "value",
    }
)
"""The fields a transcript may show: no names, tax numbers, keys, references or free text."""
