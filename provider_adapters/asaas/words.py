"""
The bank's words and ours, as tables, and the answers that are listed as definite.

Sources, each read on 22 November 2026: SDK is asaasdev/asaas-api-sdk-java 0641522 of 22 July
2025, GUIDE the pages of docs.asaas.com named. What an unlisted word means is decided where a
table is used, and is the careful choice.
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

KEY_TYPES: Final = {kind.value.upper(): kind for kind in PixKeyType}
"""SDK, TransferSaveRequestPixAddressKeyType."""

KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "AWAITING_ACTIVATION": PixKeyStatus.PENDING,
    "ACTIVE": PixKeyStatus.ACTIVE,
    "AWAITING_DELETION": PixKeyStatus.CANCELED,
    "AWAITING_ACCOUNT_DELETION": PixKeyStatus.CANCELED,
    "DELETED": PixKeyStatus.CANCELED,
    "ERROR": PixKeyStatus.PENDING,
}
"""SDK, PixAddressKeyGetResponsePixAddressKeyStatus. Nobody pays to a pending key."""

CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "PENDING": ChargeStatus.ACTIVE,
    "OVERDUE": ChargeStatus.ACTIVE,  # payable until the QR code ends, months later
    "AWAITING_RISK_ANALYSIS": ChargeStatus.ACTIVE,
    "DUNNING_REQUESTED": ChargeStatus.ACTIVE,
    "CONFIRMED": ChargeStatus.PAID,
    "RECEIVED": ChargeStatus.PAID,
    "RECEIVED_IN_CASH": ChargeStatus.PAID,
    "DUNNING_RECEIVED": ChargeStatus.PAID,
    "REFUNDED": ChargeStatus.PAID,
    "REFUND_REQUESTED": ChargeStatus.PAID,
    "REFUND_IN_PROGRESS": ChargeStatus.PAID,
    "CHARGEBACK_REQUESTED": ChargeStatus.PAID,
    "CHARGEBACK_DISPUTE": ChargeStatus.PAID,
    "AWAITING_CHARGEBACK_REVERSAL": ChargeStatus.PAID,
}
"""SDK, PaymentGetResponsePaymentStatus; one that was removed says ``deleted`` beside it."""

ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "CONTA_CORRENTE",
    AccountType.SAVINGS: "CONTA_POUPANCA",
}
"""SDK, TransferBankAccountSaveRequestBankAccountType: it has no other."""

KINDS: Final[Mapping[str, MovementKind]] = {
    "PIX_TRANSACTION_CREDIT": MovementKind.PIX,
    "PIX_TRANSACTION_DEBIT": MovementKind.PIX,
    "PIX_TRANSACTION_CREDIT_REFUND": MovementKind.PIX_RETURN,
    "PIX_TRANSACTION_CREDIT_REFUND_CANCELLATION": MovementKind.PIX_RETURN,
    "PIX_TRANSACTION_DEBIT_REFUND": MovementKind.PIX_RETURN,
    "PIX_TRANSACTION_CREDIT_FEE": MovementKind.FEE,
    "PIX_TRANSACTION_DEBIT_FEE": MovementKind.FEE,
    "PAYMENT_FEE": MovementKind.FEE,
    "PAYMENT_FEE_REVERSAL": MovementKind.FEE,
    "PAYMENT_MESSAGING_NOTIFICATION_FEE": MovementKind.FEE,
    "PAYMENT_SMS_NOTIFICATION_FEE": MovementKind.FEE,
    "INSTANT_TEXT_MESSAGE_FEE": MovementKind.FEE,
    "PHONE_CALL_NOTIFICATION_FEE": MovementKind.FEE,
    "TRANSFER_FEE": MovementKind.FEE,
    "BILL_PAYMENT_FEE": MovementKind.FEE,
    "ACCOUNT_INACTIVITY_FEE": MovementKind.FEE,
    "CHARGED_FEE_REFUND": MovementKind.FEE,
    "TRANSFER": MovementKind.TED,
    "TRANSFER_REVERSAL": MovementKind.TED,
    "BILL_PAYMENT": MovementKind.BOLETO,
    "BILL_PAYMENT_CANCELLED": MovementKind.BOLETO,
    "BILL_PAYMENT_REFUNDED": MovementKind.BOLETO,
    "PAYMENT_REVERSAL": MovementKind.OTHER,
    "REVERSAL": MovementKind.OTHER,
    "CREDIT": MovementKind.OTHER,
    "DEBIT": MovementKind.OTHER,
    "DEBIT_REVERSAL": MovementKind.OTHER,
    "INTERNAL_TRANSFER_CREDIT": MovementKind.OTHER,
    "INTERNAL_TRANSFER_DEBIT": MovementKind.OTHER,
    "INTERNAL_TRANSFER_REVERSAL": MovementKind.OTHER,
    "BACEN_JUDICIAL_LOCK": MovementKind.OTHER,
    "BACEN_JUDICIAL_UNLOCK": MovementKind.OTHER,
    "BACEN_JUDICIAL_TRANSFER": MovementKind.OTHER,
}
"""
SDK, FinancialTransactionGetResponseFinancialTransactionType, which has a hundred more.

They are about cards, advances and services: they count as unlisted, and are not Pix.
"""
PIX_KINDS: Final = frozenset({MovementKind.PIX, MovementKind.PIX_RETURN})
CHARGE_RECEIVED: Final = "PAYMENT_RECEIVED"
"""A paid charge: by Pix, boleto or card. Which, the charge says and the movement does not."""

DONE: Final = "DONE"
FAILURES: Final[Mapping[str, FailureCode]] = {
    "FAILED": FailureCode.OTHER,  # the reason is free text
    "CANCELLED": FailureCode.REJECTED,
}
STATES: Final[Mapping[str, State]] = {
    "PENDING": Accepted,
    "BANK_PROCESSING": Accepted,
    "BLOCKED": Accepted,
    DONE: Settled,
    **dict.fromkeys(FAILURES, Rejected),
}
"""
What a transfer can be: SDK, TransferGetResponseTransferStatus; GUIDE transfer-events.

BLOCKED is told by callbacks alone; a blocked transfer may go on.
"""

REJECTIONS: Final[Mapping[tuple[int, str], FailureCode]] = {
    (400, "invalid_value"): FailureCode.OTHER,
}
"""
The only answers that prove that no money moved or will move. GUIDE http-response-codes.

No source lists the codes of a refused transfer, for a balance that is too low neither. 409 is
not among them: "identical to another transfer made in the last 15 minutes" (GUIDE transfers-1)
may be this very order, sent again by somebody on the way.
"""
NO_CALLS_LEFT: Final = "RateLimit-Remaining:0"
"""Stands for the header of that name; a proxy's 429 does not have it."""
REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "access_token_not_found"): Reason.CREDENTIALS_REFUSED,
    (401, "invalid_access_token"): Reason.CREDENTIALS_REFUSED,
    (401, "invalid_access_token_format"): Reason.CREDENTIALS_REFUSED,
    (401, "invalid_environment"): Reason.CREDENTIALS_REFUSED,
    (429, NO_CALLS_LEFT): Reason.RATE_LIMITED,
}
"""
Answers before the bank looks at the order.

GUIDE authentication, since 16 July 2025: "your request could not be authenticated"; GUIDE
api-limits for the limit. The 403 of an address that is not allowed has no code and is not here.
"""

EVENTS: Final[Mapping[str, CallbackKind]] = {
    "TRANSFER_CREATED": CallbackKind.PAYOUT,
    "TRANSFER_PENDING": CallbackKind.PAYOUT,
    "TRANSFER_IN_BANK_PROCESSING": CallbackKind.PAYOUT,
    "TRANSFER_BLOCKED": CallbackKind.PAYOUT,
    "TRANSFER_DONE": CallbackKind.PAYOUT,
    "TRANSFER_FAILED": CallbackKind.PAYOUT,
    "TRANSFER_CANCELLED": CallbackKind.PAYOUT,
    "PAYMENT_CONFIRMED": CallbackKind.CHARGE,
    "PAYMENT_RECEIVED": CallbackKind.CHARGE,
    "PAYMENT_DELETED": CallbackKind.CHARGE,
    "PAYMENT_REFUNDED": CallbackKind.CHARGE,
}
"""The events that are asked for; SDK, WebhookConfigSaveRequestWebhookEvent."""
