"""Money that came in by Pix, and refunds: how much of it was given back, wholly or in parts."""

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
    """How much of a payment was given back; a refund that failed does not count."""

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
        refunded: How much of it was given back, or is about to be.
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
        """What is left of it, and can still be given back."""
        return Sum(self.value.centavos - self.refunded.centavos)

    @property
    def status(self) -> IncomingStatus:
        """Say how much was given back, in a word."""
        if self.refunded.centavos <= 0:
            return IncomingStatus.PAID
        whole = self.refunded >= self.value
        return IncomingStatus.REFUNDED if whole else IncomingStatus.PARTLY_REFUNDED


@dataclass(frozen=True, slots=True)
class IncomingSearch:
    """
    Which payments are asked for, by the day they came in; None is every status.

    ``text`` is an amount received, given back or left, words of the payer's name, or a part of
    the charge's reference or of an id.
    """

    search: Search
    status: IncomingStatus | None = None
    text: str = ""


class RefundStatus(StrEnum):
    """Where a refund stands; a failed one moved nothing."""

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
        """Raise ValueError rather than let a wrong order be sent."""
        _above_zero(self.value)

    @property
    def names_payment(self) -> bool:
        """Whether ``payment`` has the form of an end-to-end id and is taken for one."""
        return self.payment.startswith("E") and strict.is_e2e_id(self.payment)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """
    A refund as a bank is asked for it.

    Attributes:
        provider_key: Ours, derived; the bank gives one refund for it, ever.
        payment_e2e_id: The payment that is given back.
    """

    provider_key: str
    reference: str
    payment_e2e_id: str
    value: Money
    description: str

    def __post_init__(self) -> None:
        """Raise ValueError rather than let a wrong order be sent."""
        _above_zero(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """
    A refund as the bank keeps it.

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
        """Say whether this is what the request asks for."""
        return (
            self.value == request.value
            and self.description == request.description
            and request.payment in {self.payment_e2e_id, self.payment_reference}
        )


@dataclass(frozen=True, slots=True)
class RefundSearch:
    """
    Which refunds are asked for, by the day they were ordered; None is every status.

    ``text`` is an amount, or a part of a reference, of the description or of an id.
    """

    search: Search
    status: RefundStatus | None = None
    text: str = ""


def refund_key(environment: Environment, account_id: str, reference: str) -> str:
    """
    Derive the key a bank knows the refund by: 32 lower-case hexadecimal characters.

    Made as a payout's is, under a prefix of its own, so that a refund and a
    payout of one reference never meet.
    """
    parts = ("refund-v1", environment.value, account_id, reference)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _above_zero(value: Money) -> None:
    if value.centavos <= 0:
        problem = "a refund is above zero"
        raise ValueError(problem)
