"""Charges (QR codes) and the payments that settle them (contract 2.4, 2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec

from gateway.core.money import Money


class ChargeType(StrEnum):
    """A static code can be paid again and again, a dynamic one is one charge."""

    STATIC = "Static"
    DYNAMIC = "Dynamic"


class ChargeStatus(StrEnum):
    """A charge's state; past its expiry an active charge cannot be paid."""

    ACTIVE = "Active"
    PAID = "Paid"
    CANCELED = "Canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """Who paid or is asked to pay."""

    name: str = ""
    tax_number: str = ""
    message: str = ""


class Party(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A name and a tax number."""

    name: str = ""
    tax_number: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """
    A charge as the provider describes it.

    Attributes:
        value: None for an open amount.
        payer: None for an anonymous charge.
        emv: The copy-and-paste payload, handed on untouched.
        expires_at: None when it never expires.
    """

    reference: str
    type: ChargeType
    key: str
    value: Money | None
    status: ChargeStatus
    emv: str
    reusable: bool
    payer: Payer | None
    receiver: Party
    city: str
    zip_code: str
    created_at: datetime | None
    expires_at: datetime | None

    def is_expired(self, now: datetime) -> bool:
        """Return whether the charge has expired, neither paid nor cancelled."""
        return (
            self.status is ChargeStatus.ACTIVE
            and self.expires_at is not None
            and now >= self.expires_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeOrder:
    """
    An order to create a charge.

    Attributes:
        key: One of the account's own active keys, in its normal form.
        value: Above zero; None for an amount the payer chooses.
        expires_in: Seconds from now; None for one that never expires.
        payer: None for an anonymous charge.
    """

    reference: str
    type: ChargeType
    key: str
    value: Money | None = None
    expires_in: int | None = None
    payer: Payer | None = None
    description: str = ""
    reusable: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for an invalid order, before it can be sent."""
        if self.value is not None and self.value.centavos <= 0:
            problem = "a charge asks for more than zero"
            raise ValueError(problem)
        if self.expires_in is not None and self.expires_in <= 0:
            problem = "a charge expires after it was made"
            raise ValueError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargePayment:
    """
    A charge seen as a transaction: pending until ``paid_at`` is set.

    Attributes:
        value: The paid amount, else the requested one; None for an open amount.
        payer: None for an anonymous charge, also when paid.
    """

    reference: str
    value: Money | None
    created_at: datetime | None
    paid_at: datetime | None
    e2e_id: str
    payer: Payer | None
