"""Payments received by Pix, and their refunds, whole or partial."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.banks.port.charges import Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.account import Environment
from gateway.core.money import Money, Sum


class IncomingStatus(StrEnum):
    """Refunded share of a payment; a failed refund does not count."""

    PAID = "paid"
    PARTLY_REFUNDED = "partly_refunded"
    REFUNDED = "refunded"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingPayment:
    """
    A payment received.

    Attributes:
        reference: The charge it pays; empty when it pays none.
        e2e_id: The central bank's id; it names the payment where the reference
            names several or none.
        value: Above zero.
        refunded: Refunded amount, refunds under way included.
        payer: None if unnamed.
    """

    reference: str
    e2e_id: str
    provider_id: str
    value: Money
    refunded: Money
    paid_at: datetime
    payer: Payer | None

    @property
    def kept(self) -> Sum:
        """The unrefunded rest, which can still be refunded."""
        return Sum(self.value.centavos - self.refunded.centavos)

    @property
    def status(self) -> IncomingStatus:
        """Return the refunded share as a word."""
        if self.refunded.centavos <= 0:
            return IncomingStatus.PAID
        whole = self.refunded >= self.value
        return IncomingStatus.REFUNDED if whole else IncomingStatus.PARTLY_REFUNDED


class RefundStatus(StrEnum):
    """State of a refund; a failed refund moved nothing."""

    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """
    An order to a bank to refund.

    Attributes:
        provider_key: Our key, derived; the bank executes one refund for it, ever.
        payment_e2e_id: The refunded payment.
    """

    provider_key: str
    reference: str
    payment_e2e_id: str
    value: Money
    description: str

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid order, before it can be sent."""
        if self.value.centavos <= 0:
            problem = "a refund is above zero"
            raise ValueError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """
    A refund in the bank's records.

    Attributes:
        reference: Ours; empty where the bank does not keep it.
        provider_key: Ours; empty for a refund that was ordered elsewhere.
        payment_e2e_id: Of one that was ordered elsewhere, empty where the bank does not
            tell; one of ours always names its payment.
        payment_reference: The charge the payment paid; empty when it paid none.
        return_id: The central bank's id of the way back, beginning with ``D``.
        failure: Why it failed; None unless it did.
    """

    reference: str
    provider_key: str
    provider_id: str
    payment_e2e_id: str
    payment_reference: str
    return_id: str
    value: Money
    description: str
    status: RefundStatus
    failure: FailureCode | None
    created_at: datetime
    settled_at: datetime | None


def refund_key(environment: Environment, account_id: str, reference: str) -> str:
    """
    Derive the provider key of a refund: 32 lower-case hexadecimal characters.

    Derived as a payout's key, under its own prefix, so that a refund and a payout of one reference
    never collide.
    """
    parts = ("refund-v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
