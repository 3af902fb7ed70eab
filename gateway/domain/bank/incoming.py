"""Money that came in by Pix, and how much of it was given back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.domain.bank.charges import Payer
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Search


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
    def status(self) -> IncomingStatus:
        """Say how much was given back, in a word."""
        if self.refunded.centavos <= 0:
            return IncomingStatus.PAID
        whole = self.refunded >= self.value
        return IncomingStatus.REFUNDED if whole else IncomingStatus.PARTLY_REFUNDED


@dataclass(frozen=True, slots=True)
class IncomingSearch:
    """Which payments are asked for, by the day they came in; None is every status."""

    search: Search
    status: IncomingStatus | None = None
