"""
Woovi's words and ours, as tables; what an unlisted word means is decided in ``translate``.

Sources, read on 22 November 2026:

- D: Open-Pix/openpix-developers, ``src/swaggers/openpix.json`` of f416b4d (2026-05-11), OpenAPI
  3.0.3; the pages named below are of 76584f0 (2026-06-30).
- W: woovibr/woovi-developers, pages of bb0dddf (2026-08-20).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.port.provider_options import NOT_ALLOWED
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import (
    Accepted,
    CredentialsRefused,
    NotFound,
    RateLimited,
    Refused,
    Rejected,
    Settled,
)
from gateway.banks.port.refunds import RefundStatus
from gateway.banks.port.statements import Direction
from provider_adapters.kit.answers import Errors
from provider_adapters.kit.outcomes import RefusedBefore, State

KEY_TYPES: Final[Mapping[str, PixKeyType]] = {
    **{kind.value.upper(): kind for kind in PixKeyType},
    "RANDOM": PixKeyType.EVP,
}
"""D ``PixKey``; a payout says RANDOM where a key says EVP (D ``PaymentCreatePayload``)."""
PAYOUT_KEY_TYPES: Final = {kind: word for word, kind in KEY_TYPES.items()}
NEW_KEY_TYPES: Final[Mapping[PixKeyType, str]] = {PixKeyType.CNPJ: "CNPJ", PixKeyType.EVP: "EVP"}
"""D ``PixKeyCreate``; the others need a permission that support gives (D pix-keys page)."""
ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "CACC",
    AccountType.SAVINGS: "SVGS",
    AccountType.SALARY: "SLRY",
    AccountType.PAYMENT: "TRAN",
}
"""D docs/flows/validate-bank-data-manual.md."""
EXPIRED: Final = "EXPIRED"
CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "ACTIVE": ChargeStatus.ACTIVE,
    "COMPLETED": ChargeStatus.PAID,
    EXPIRED: ChargeStatus.ACTIVE,  # ours is active, with an expiry in the past
}
"""D ``Charge``. What a deleted charge answers is stated nowhere."""
CHARGE_TYPES: Final = frozenset({"DYNAMIC", "OVERDUE", "BOLETO"})
"""D ``Charge``: each is one charge that can be paid once."""
DIRECTIONS: Final = {each.value.upper(): each for each in Direction}
"""D, statement: CREDIT is its example; W docs/baas/baas-api-master.md."""
REFUND_STATUSES: Final[Mapping[str, RefundStatus]] = {
    "IN_PROCESSING": RefundStatus.PROCESSING,
    "REFUNDED": RefundStatus.PAID,
    "CONFIRMED": RefundStatus.PAID,
    "NOT_ACCOMPLISHED": RefundStatus.FAILED,
    "REJECTED": RefundStatus.FAILED,
}
"""D ``Refund``, and ``ChargeRefund`` for a refund of a charge."""
STATES: Final[Mapping[str, State]] = {
    "CREATED": Accepted,
    "APPROVED": Accepted,
    "PROCESSING": Accepted,
    "CONFIRMED": Settled,
    "FAILED": Rejected,
    "DENIED": Rejected,
    "REJECTED": Rejected,
}
"""
D ``Payment`` has CREATED, FAILED and DENIED; its examples and W payment-how-to-auto-approve.md
have APPROVED, W docs/payment/payment-idempotency.md has REJECTED.
"""
TRANSACTION_KINDS: Final = frozenset(
    {"PAYMENT", "WITHDRAW", "REFUND", "FEE", "INTERNAL_TRANSFER", "BALANCE_BLOCK",
     "BALANCE_UNBLOCK", "REVERSAL"}
)  # fmt: skip
"""D, filter ``type`` of the transactions."""
RECEIVED: Final = "PAYMENT"
"""The kind of a transaction that came in."""
WHOLLY_REFUNDED: Final = "REFUNDED"
PARTLY_REFUNDED: Final = "PARTIAL_REFUND"

SAID: Final[Mapping[str, str]] = {
    "Já existe um pagamento com o correlationID fornecido": "DUPLICATE",
    "You do not have enough balance to make this payment": "NOT_ENOUGH_BALANCE",
    "Você não possui saldo o suficiente para realizar esse pagamento": "NOT_ENOUGH_BALANCE",
    "appID inválido": "INVALID_APP_ID",
    "You tried to consult many Pix keys that do not exist.": "TOO_MANY_REQUESTS",
    "Your account does not have the permission to use this endpoint": "NO_PERMISSION",
    "Charge not found": "NOT_FOUND",
    "Payment not found": "NOT_FOUND",
    "Refund not found": "NOT_FOUND",
    "Transaction not found": "NOT_FOUND",
}
"""
The bank's sentences, each under a short code of ours: most refusals are a 400 with a text alone.

In this order from W docs/payment: payment-idempotency.md, payment-how-to-auto-approve.md,
payment-how-to-use-api-to-approve-a-payment.md; W docs/apis/api-getting-started.md; W
docs/payment/pix-key-token-bucket.md (two). Of those for absent things "Transaction not found" is
in W docs/baas/baas-api-master.md and "Charge not found" in W docs/invoice/how-to-issue-
invoice-by-api.md; the other two have their form. An absent payout proves nothing (there is no
``absent_after``), so that a wrong one costs a review and no money.
"""
REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "INVALID_APP_ID"): Reason.CREDENTIALS_REFUSED,
    (429, "TOO_MANY_REQUESTS"): Reason.RATE_LIMITED,
}
"""
What refuses an order before it is looked at.

W docs/apis/api-getting-started.md; W docs/payment/pix-key-token-bucket.md: "a consulta é recusada
sem nem chegar ao DICT". A repeat comes under the same correlationID, which pays once.
"""
DUPLICATES: Final = frozenset({(400, "DUPLICATE")})
"""W docs/payment/payment-idempotency.md: "a API rejeita a segunda chamada"."""
REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (400, "NOT_ENOUGH_BALANCE"): FailureCode.INSUFFICIENT_FUNDS,
}
"""The only refusal of a payout that is written down: W payment-how-to-auto-approve.md."""
ERRORS: Final[Errors] = {
    (400, "NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (401, "INVALID_APP_ID"): (CredentialsRefused, Reason.CREDENTIALS_REFUSED),
    (403, "NO_PERMISSION"): (Refused, NOT_ALLOWED),
    (404, "PIX_KEY_INFO_NOT_FOUND"): (NotFound, Reason.NOT_FOUND),
    (429, "TOO_MANY_REQUESTS"): (RateLimited, Reason.RATE_LIMITED),
}
"""What refusals of reads and changes mean; the status alone decides all others."""

FAILURES: Final[Mapping[str, FailureCode]] = {
    "AC03": FailureCode.ACCOUNT_INVALID,
    "AC06": FailureCode.ACCOUNT_INVALID,
    "AC07": FailureCode.ACCOUNT_INVALID,
    "AC14": FailureCode.ACCOUNT_INVALID,
    "ACCOUNT_NOT_FOUND": FailureCode.ACCOUNT_INVALID,
    "BE01": FailureCode.OWNER_MISMATCH,
    "CH11": FailureCode.OWNER_MISMATCH,
    "INVALID_PIX_KEY": FailureCode.KEY_NOT_FOUND,
    "PIX_KEY_INFO_NOT_FOUND": FailureCode.KEY_NOT_FOUND,
    "AM02": FailureCode.LIMIT_EXCEEDED,
    "ACCOUNT_LIMIT_ERROR": FailureCode.LIMIT_EXCEEDED,
    "REACH_TRANSFER_LIMIT": FailureCode.LIMIT_EXCEEDED,
    "NOT_ENOUGH_BALANCE": FailureCode.INSUFFICIENT_FUNDS,
    "AG03": FailureCode.REJECTED,
    "DS04": FailureCode.REJECTED,
    "FRAD": FailureCode.REJECTED,
    "RR04": FailureCode.REJECTED,
}
"""
Why a payout failed; any other code is OTHER.

D docs/flows/error-codes-payment.md, docs/flows/sandbox-error-simulation.md and
docs/payment/payment-failed-errors.md. AM04 is a lack of the bank's own funds, not of ours.
"""
EVENTS: Final[Mapping[str, CallbackKind]] = {
    "OPENPIX:MOVEMENT_CONFIRMED": CallbackKind.PAYOUT,
    "OPENPIX:MOVEMENT_FAILED": CallbackKind.PAYOUT,
    "OPENPIX:MOVEMENT_REMOVED": CallbackKind.PAYOUT,
    "OPENPIX:CHARGE_COMPLETED": CallbackKind.CHARGE,
    "OPENPIX:CHARGE_EXPIRED": CallbackKind.CHARGE,
    "PIX_TRANSACTION_REFUND_SENT_CONFIRMED": CallbackKind.REFUND,
    "PIX_TRANSACTION_REFUND_SENT_REJECTED": CallbackKind.REFUND,
}
"""What callbacks speak of: D ``WebhookEventEnum``; any other event is of no known kind."""
REGISTERED: Final = (
    "OPENPIX:MOVEMENT_CONFIRMED",
    "OPENPIX:MOVEMENT_FAILED",
    "OPENPIX:MOVEMENT_REMOVED",
    "OPENPIX:CHARGE_COMPLETED",
)
"""
What an address is registered for: the bank wants one registration for each event.

Those about refunds name none of our keys, and a charge's expiry is known without being told.
"""
