"""Payments received by Pix, and their refunds, whole or partial."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.banks.port.charges import Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.core import strict
from gateway.core.account import Environment
from gateway.core.money import Money, Sum
from gateway.core.windows import Search


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
        e2e_id: The central bank's; what names the payment where the reference
            names several or none.
        value: Above zero.
        refunded: Refunded amount, refunds under way included.
        payer: None when nobody was named.
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


@dataclass(frozen=True, slots=True)
class IncomingSearch:
    """
    Search parameters of payments, by the day they came in; None is every status.

    ``text`` is an amount received, given back or left, words of the payer's name, or a part of the
    charge's reference or of an id.
    """

    search: Search
    status: IncomingStatus | None = None
    text: str = ""


class RefundStatus(StrEnum):
    """State of a refund; a failed refund moved nothing."""

    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundRequest:
    """
    A refund as the operator asks for it.

    Attributes:
        reference: Unique per account among refunds; the same reference is the
            same refund, however often sent.
        payment: The payment's end-to-end id, or the reference of the charge
            it paid.
        value: Above zero, at most what is left of the payment.
    """

    reference: str
    payment: str
    value: Money
    description: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid order, before it can be sent."""
        _above_zero(self.value)

    @property
    def names_payment(self) -> bool:
        """Whether ``payment`` has the form of an end-to-end id and is taken for one."""
        return self.payment.startswith("E") and strict.is_e2e_id(self.payment)


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
        _above_zero(self.value)


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

    def is_of(self, request: RefundRequest) -> bool:
        """Return whether this refund matches the request."""
        return (
            self.value == request.value
            and self.description == request.description
            and request.payment in {self.payment_e2e_id, self.payment_reference}
        )


@dataclass(frozen=True, slots=True)
class RefundSearch:
    """
    Search parameters of refunds, by the day they were ordered; None is every status.

    ``text`` is an amount, or a part of a reference, of the description or of an id.
    """

    search: Search
    status: RefundStatus | None = None
    text: str = ""


def refund_key(environment: Environment, account_id: str, reference: str) -> str:
    """
    Derive the provider key of a refund: 32 lower-case hexadecimal characters.

    Derived as a payout's key, under its own prefix, so that a refund and a payout of one reference
    never collide.
    """
    parts = ("refund-v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _above_zero(value: Money) -> None:
    if value.centavos <= 0:
        problem = "a refund is above zero"
        raise ValueError(problem)
