"""
The bank's words and ours, as tables; what an unlisted word means is decided where it is read.

Sources, read on 22 November 2026: PyPI ``starkbank`` 2.36.0 and the tests of starkbank/sdk-python
(MIT), the pages below docs.starkbank.com/get-started, and where nothing else says it He4rt's
fake of the bank (third party). Each table names its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import Accepted, Rejected, Settled
from gateway.banks.port.statements import MovementKind
from provider_adapters.kit.outcomes import RefusedBefore, State

ZONE: Final = "America/Sao_Paulo"
"""Of the days in ``after`` and ``before``: SDK tests allow three hours beyond the UTC day."""

KEY_TYPES: Final = {kind.value: kind for kind in PixKeyType}
"""Source: SDK, ``DictKey.type``."""

KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "created": PixKeyStatus.PENDING,
    "registered": PixKeyStatus.ACTIVE,
    "canceled": PixKeyStatus.CANCELED,
    "failed": PixKeyStatus.CANCELED,
}
"""Source: SDK, ``DictKey.status``."""

ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "checking",
    AccountType.SAVINGS: "savings",
    AccountType.SALARY: "salary",
    AccountType.PAYMENT: "payment",
}
"""Source: SDK, ``Transfer.account_type``."""

PAID: Final = "paid"
CANCELED: Final = "canceled"
EXPIRED: Final = "expired"
INVOICE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "created": ChargeStatus.ACTIVE,
    "overdue": ChargeStatus.ACTIVE,  # past its due date, and still to be paid
    PAID: ChargeStatus.PAID,
    CANCELED: ChargeStatus.CANCELED,
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active, with an expiry in the past
}
"""Source: SDK, ``Invoice.status`` and ``invoice.update``; page "Invoice"."""

FAILURES: Final[Mapping[str, FailureCode]] = {
    "failed": FailureCode.OTHER,
    "canceled": FailureCode.REJECTED,
}
STATES: Final[Mapping[str, State]] = {
    "created": Accepted,
    "processing": Accepted,
    "success": Settled,
    **dict.fromkeys(FAILURES, Rejected),
}
"""
States of a transfer. Source: SDK, ``Transfer.status``, its test of cancelling; page "Transfer".

Why one failed is told in sentences of its log alone, without codes.
"""

SOURCES: Final[Mapping[str, MovementKind]] = {
    "transfer": MovementKind.PIX,
    "deposit": MovementKind.PIX,
    "invoice": MovementKind.PIX,
    "brcode-payment": MovementKind.PIX,
    "boleto": MovementKind.BOLETO,
    "boleto-payment": MovementKind.BOLETO,
    "charge": MovementKind.BOLETO,
    "utility-payment": MovementKind.OTHER,
    "tax-payment": MovementKind.OTHER,
    "darf-payment": MovementKind.OTHER,
    "payment-request": MovementKind.OTHER,
    "self": MovementKind.OTHER,
}
"""
What a movement comes from, by the first step of its ``source``.

Source: SDK, ``Transaction.source`` and the names of its resources. Transfers and deposits may be
TED as well; the movement does not say it, so kinds are not declared.
"""
CHARGEBACK: Final = "chargeback"
"""The last step of the source of money that a failed transfer gave back. Source: SDK, there."""

REFUSED_BEFORE: Final[RefusedBefore] = {
    (400, "invalidCredentials"): Reason.CREDENTIALS_REFUSED,
    (400, "invalidAccessId"): Reason.CREDENTIALS_REFUSED,
    (400, "invalidSignature"): Reason.CREDENTIALS_REFUSED,
    (401, "invalidAccessId"): Reason.CREDENTIALS_REFUSED,
    (401, "invalidSignature"): Reason.CREDENTIALS_REFUSED,
    (401, "expiredAccessTime"): Reason.CREDENTIALS_REFUSED,
}
"""
Answers before the bank looks at the order: the signature does not hold.

Sources: SDK for Elixir 2.6.2, ``StarkBank.Error`` (invalidCredentials); the bank's OpenAPI
document, by its codes, as 400; third party (He4rt's fake), as 401.
"""
CREDENTIAL_CODES: Final = frozenset(code for _, code in REFUSED_BEFORE)

REJECTIONS: Final[Mapping[str, FailureCode]] = {
    "insufficientFunds": FailureCode.INSUFFICIENT_FUNDS,
    "invalidAmount": FailureCode.REJECTED,
    "invalidJson": FailureCode.REJECTED,
    "invalidTaxId": FailureCode.REJECTED,
}
"""
The only codes of a 400 that prove that no money will move, if no transfer has our tag either.

Source: SDK, tests/api/testTransfer.py: the whole order is refused, and nothing created. Of
insufficientFunds: third party (api-evangelist/stark-bank, errors, 21 July 2026).
"""

NOT_FOUND: Final = frozenset(
    {
        "invalidBrcode",
        "invalidDeposit",
        "invalidDictKey",
        "invalidEvent",
        "invalidId",
        "invalidInvoice",
        "invalidPayment",
        "invalidPixKey",
        "invalidTransfer",
        "invalidWebhook",
    }
)
"""
Codes for an id that names nothing, with 400 or 404, where one thing is read by its id.

Source: SDK, its tests of an unknown id (400); third party (invalidDictKey and invalidId, 404).
"""

SUBSCRIPTIONS: Final[Mapping[str, CallbackKind]] = {
    "transfer": CallbackKind.PAYOUT,
    "deposit": CallbackKind.CHARGE,
    "invoice": CallbackKind.CHARGE,
}
"""What callbacks are asked for, and what each speaks of. Source: SDK, ``Webhook``, ``Event``."""
