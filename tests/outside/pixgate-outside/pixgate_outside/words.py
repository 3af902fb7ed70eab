"""
The bank's words and ours, as tables. TODO: the bank's, with source and date.

A word that is not listed is counted and taken for the careful choice: a movement is no Pix, a
key receives nothing yet, a payout's state is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.charges import ChargeStatus, ChargeType
from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.providers import Reason
from gateway.banks.port.statements import Direction, MovementKind
from provider_adapters.kit.outcomes import RefusedBefore

KEY_TYPES: Final[Mapping[str, PixKeyType]] = {
    "cpf": PixKeyType.CPF,
    "cnpj": PixKeyType.CNPJ,
    "email": PixKeyType.EMAIL,
    "phone": PixKeyType.PHONE,
    "random": PixKeyType.EVP,
}
KEY_STATUSES: Final[Mapping[str, PixKeyStatus]] = {
    "active": PixKeyStatus.ACTIVE,
    "pending": PixKeyStatus.PENDING,
    "canceled": PixKeyStatus.CANCELED,
}
ACCOUNT_TYPES: Final[Mapping[AccountType, str]] = {
    AccountType.CHECKING: "checking",
    AccountType.SAVINGS: "savings",
    AccountType.SALARY: "salary",
    AccountType.PAYMENT: "payment",
}
CHARGE_TYPES: Final[Mapping[str, ChargeType]] = {
    "dynamic": ChargeType.DYNAMIC,
    "static": ChargeType.STATIC,
}
EXPIRED: Final = "expired"
"""Ours is active, with an expiry in the past."""
CHARGE_STATUSES: Final[Mapping[str, ChargeStatus]] = {
    "active": ChargeStatus.ACTIVE,
    "paid": ChargeStatus.PAID,
    "canceled": ChargeStatus.CANCELED,
    EXPIRED: ChargeStatus.ACTIVE,
}
DIRECTIONS: Final[Mapping[str, Direction]] = {"in": Direction.CREDIT, "out": Direction.DEBIT}
KINDS: Final[Mapping[str, MovementKind]] = {
    "pix": MovementKind.PIX,
    "pix_return": MovementKind.PIX_RETURN,
    "ted": MovementKind.TED,
    "boleto": MovementKind.BOLETO,
    "fee": MovementKind.FEE,
}
PIX: Final = frozenset({MovementKind.PIX, MovementKind.PIX_RETURN})
FAILURES: Final[Mapping[str, FailureCode]] = {
    "account_invalid": FailureCode.ACCOUNT_INVALID,
    "insufficient_funds": FailureCode.INSUFFICIENT_FUNDS,
    "key_not_found": FailureCode.KEY_NOT_FOUND,
    "limit_exceeded": FailureCode.LIMIT_EXCEEDED,
    "not_allowed": FailureCode.REJECTED,
    "owner_mismatch": FailureCode.OWNER_MISMATCH,
    "rejected": FailureCode.REJECTED,
}
"""Why a payout failed; any other word is ``OTHER``."""

REJECTIONS: Final = frozenset(
    {
        (422, "account_invalid"),
        (422, "insufficient_funds"),
        (422, "key_not_found"),
        (422, "limit_exceeded"),
        (422, "not_allowed"),
        (422, "owner_mismatch"),
        (422, "rejected"),
    }
)
"""
The only answers that prove that no money moved or will move, by status and code.

TODO: with its source for each. A pair that is missing here is Unknown, and looked up; a pair
too many may tell a partner that a payout failed which was executed.
"""
FORBIDDEN: Final = frozenset({"limit_exceeded", "not_allowed"})
"""Of those, what the account may not do, as against wrong content."""

REFUSED_BEFORE: Final[RefusedBefore] = {
    (401, "unauthorized"): Reason.CREDENTIALS_REFUSED,
    (403, "wrong_account"): Reason.CREDENTIALS_REFUSED,
    (429, "too_many_requests"): Reason.RATE_LIMITED,
}
"""Answers before the bank looks at the order. TODO: with their source."""

DUPLICATES: Final = frozenset({(409, "duplicate")})
"""The bank knows our key: the payout is read back and compared."""

NOT_FOUND: Final = frozenset({(404, "not_found")})
"""The bank's own word for what it does not have; a bare 404 may come from a proxy."""
