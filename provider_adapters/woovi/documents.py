"""
Woovi's documents, as far as they are read; everything else in them is left alone.

Source: the OpenAPI document named in ``words``. Nearly nothing in it is required; what is
missing where we need it is a ``BadReply``. Amounts are whole centavos (docs/apis/api-common-
fields.md); a fraction is refused. Instants are RFC 3339 in UTC (docs/apis/api-time.md).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import msgspec

from provider_adapters.kit.answers import inside

_NESTED: Final = 4
"""Lists and objects around a tax number, one of each and as many to spare."""
_CPF: Final = 11
_CNPJ: Final = 14
_BARE: Final = str.maketrans("", "", "./-")

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
"""One without a zone would be read as this machine's time."""


class Balance(msgspec.Struct):
    """``CompanyBankAccount.balance``: ``blocked`` is the sum of all that is held back."""

    total: int
    blocked: int


class Account(msgspec.Struct, rename={"account_id": "accountId"}):
    """``CompanyBankAccount``."""

    account_id: str
    balance: Balance


class Movement(msgspec.Struct):
    """A line of the statement."""

    id: str
    time: Instant
    value: int
    type: str
    description: str | None = None


class Key(msgspec.Struct):
    """``PixKey``; the bank gives it no id, no state and no date."""

    key: str
    type: str


class KeyShown(msgspec.Struct, rename={"pix_key": "pixKey"}):
    """A new key in docs/pix-keys/how-to-create-new-pix-key.md."""

    pix_key: str
    type: str


def tax_number_of(value: object) -> str:
    """
    Read a tax number without punctuation; empty where unreported.

    The document has an object, its pages also a text, a number and a list of objects.
    """
    for _ in range(_NESTED):
        if isinstance(value, list):
            value = next(iter(value), None)
        elif isinstance(value, dict):
            value = value.get("taxID")
    if isinstance(value, int) and not isinstance(value, bool):  # without its zeros in front
        value = str(value).zfill(_CPF if value < 10**_CPF else _CNPJ)
    number = value.translate(_BARE).strip() if isinstance(value, str) else ""
    return number if any(map(str.isdecimal, number)) else ""


class Owner(msgspec.Struct, rename={"tax_id": "taxID"}):
    """The owner of a key; ``psp`` is an ISPB, branch and account may be masked."""

    name: str | None = None
    tax_id: object = None
    psp: str | None = None
    branch: str | None = None
    account: str | None = None


class KeyCheck(msgspec.Struct, rename={"pix_key": "pixKey"}):
    """``POST /api/v1/pix-keys/check``."""

    pix_key: str
    type: str
    owner: Owner


class Customer(msgspec.Struct, rename={"tax_id": "taxID"}):
    """``Customer``."""

    name: str | None = None
    tax_id: object = None


NOBODY: Final = msgspec.Raw(b"null")
"""A person is not decoded with what names it: an odd one does not spoil that."""


class Charge(
    msgspec.Struct,
    rename={
        "correlation_id": "correlationID",
        "br_code": "brCode",
        "pix_key": "pixKey",
        "created_at": "createdAt",
        "expires_date": "expiresDate",
    },
):
    """``Charge``."""

    correlation_id: str
    status: str
    value: int
    br_code: str | None = None
    type: str | None = None
    pix_key: str | None = None
    customer: msgspec.Raw = NOBODY
    created_at: Instant | None = None
    expires_date: Instant | None = None


class PaidCharge(msgspec.Struct, rename={"correlation_id": "correlationID"}):
    """The charge that a transaction paid."""

    correlation_id: str | None = None


class Transaction(
    msgspec.Struct, rename={"e2e_id": "endToEndId", "info": "infoPagador", "global_id": "globalID"}
):
    """
    ``Transaction``.

    ``type`` and ``status`` have changed places in the document, as its example shows; both are
    looked at.
    """

    value: int
    time: Instant
    e2e_id: str | None = None
    type: str | None = None
    status: str | None = None
    info: str | None = None
    global_id: str | None = None
    payer: msgspec.Raw = NOBODY
    charge: PaidCharge | None = None


class PageInfo(msgspec.Struct, rename={"has_next": "hasNextPage"}):
    """Where a page stands in its list."""

    has_next: bool
    skip: int


class Transactions(msgspec.Struct, rename={"page_info": "pageInfo"}):
    """``GET /api/v1/transaction``."""

    transactions: list[Transaction]
    page_info: PageInfo


class Psp(msgspec.Struct):
    """A bank, by its ISPB."""

    id: str | None = None


class PaidAccount(msgspec.Struct):
    """An account that is paid."""

    account: str | None = None
    branch: str | None = None


class Payment(
    msgspec.Struct, rename={"correlation_id": "correlationID", "pix_key": "destinationAlias"}
):
    """``Payment``; bank, account and holder are shown for one by account (its example)."""

    correlation_id: str
    status: str
    value: int
    pix_key: str | None = None
    psp: Psp | str | None = None
    account: PaidAccount | None = None


class Settlement(
    msgspec.Struct, rename={"e2e_id": "endToEndId", "reason": "providerRejectedReason"}
):
    """``PaymentTransaction``; ``reason`` is a code and a sentence: ``AC03 - ...``."""

    value: int | None = None
    e2e_id: str | None = None
    time: Instant | None = None
    reason: str | None = None


class PaymentAnswer(msgspec.Struct):
    """``POST /api/v1/payment`` and ``GET /api/v1/payment/{id}``."""

    payment: Payment
    transaction: Settlement | None = None


class Refund(
    msgspec.Struct,
    rename={
        "correlation_id": "correlationID",
        "refund_id": "refundId",
        "return_id": "returnIdentification",
    },
):
    """``Refund``; ``return_id`` stands in its example alone."""

    correlation_id: str
    value: int
    refund_id: str = ""
    status: str | None = None
    return_id: str | None = None
    time: Instant | None = None
    comment: str | None = None


class Refunds(msgspec.Struct, rename={"page_info": "pageInfo"}):
    """``GET /api/v1/refund``."""

    refunds: list[Refund]
    page_info: PageInfo


class ChargeRefund(msgspec.Struct):
    """``ChargeRefund``."""

    value: int
    status: str


class Webhook(msgspec.Struct):
    """``Webhook``: an address that listens to one event."""

    id: str
    url: str
    event: str = ""


class PublicKey(msgspec.Struct, rename={"id": "key_identifier"}):
    """A key that callbacks are signed with, in PEM."""

    key: str
    id: str = ""


class Problem(msgspec.Struct):
    """One of several errors."""

    message: str


class Refusal(msgspec.Struct, rename={"code": "errorCode"}):
    """A refusal: ``{"error", "errorCode"}``, or ``{"errors": [{"message"}]}`` for a bad AppID."""

    error: str | None = None
    code: str | None = None
    errors: list[Problem] = []


ACCOUNT: Final = inside("account", Account)
STATEMENT: Final = msgspec.json.Decoder(list[Movement])
KEYS: Final = inside("pixKeys", list[Key])
KEY: Final = msgspec.json.Decoder(Key)
KEY_PAGE: Final = inside("pixKey", KeyShown)
"""``POST /api/v1/pix-keys`` as its page has it; the document shows the key alone."""
KEY_CHECK: Final = msgspec.json.Decoder(KeyCheck)
CUSTOMER: Final = msgspec.json.Decoder(Customer | None)
CHARGE: Final = inside("charge", Charge)
DELETED: Final = inside("status", str)
TRANSACTION: Final = inside("transaction", Transaction)
TRANSACTIONS: Final = msgspec.json.Decoder(Transactions)
PAYMENT: Final = msgspec.json.Decoder(PaymentAnswer)
REFUND_ORDERED: Final = inside("refund", Refund)
REFUND: Final = inside("pixTransactionRefund", Refund)
REFUNDS: Final = msgspec.json.Decoder(Refunds)
CHARGE_REFUNDS: Final = inside("refunds", list[ChargeRefund])
WEBHOOK: Final = inside("webhook", Webhook)
WEBHOOKS: Final = inside("webhooks", list[Webhook])
PUBLIC_KEYS: Final = inside("public_keys", list[PublicKey])
REFUSAL: Final = msgspec.json.Decoder(Refusal)

HARMLESS: Final = frozenset(
    {
        "accountType",
        "autoApprove",
        "available",
        "blocked",
        "blockedBySecurity",
        "blockedByWithdrawSafety",
        "createdAt",
        "destinationAliasType",
        "endToEndId",
        "errorCode",
        "event",
        "expiresDate",
        "expiresIn",
        "hasNextPage",
        "hasPreviousPage",
        "isActive",
        "isDefault",
        "limit",
        "psp",
        "refundId",
        "returnIdentification",
        "skip",
        "status",
        "time",
        "total",
        "transactionEndToEndId",
        "type",
        "updatedAt",
    }
)
"""
Fields that a transcript may show.

Not ``correlationID``: of a charge it is a partner's own text. Not ``comment``, ``description``
and ``error``: sentences may name people. Not ``value``: a charge's additional information has
texts of that name.
"""
