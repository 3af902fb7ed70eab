"""
Answers of the gateway.

Amounts are reais as Decimal, times are aware and in UTC. A time that does not exist yet is None.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Balance:
    """The balance, live from the bank; ``blocked`` of it cannot be paid out."""

    balance: Decimal
    blocked: Decimal
    updated_at: dt.datetime


@dataclass(frozen=True, slots=True)
class PixKey:
    """A PIX key of the account."""

    id: str
    key: str
    type: str
    status: str
    created_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class Party:
    """A name and a tax number."""

    name: str
    tax_number: str


@dataclass(frozen=True, slots=True)
class Payer(Party):
    """The payer of a charge, and what they wrote."""

    message: str


@dataclass(frozen=True, slots=True)
class QrCode:
    """The text to copy and paste, which is also what the QR code shows."""

    hash: str


@dataclass(frozen=True, slots=True)
class Location:
    """Where the receiver is."""

    city: str
    zip_code: str


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as a QR code: Active, Paid or Canceled; ``value`` 0 where the payer chooses."""

    reference: str
    type: str
    key: str
    receiver: Party
    location: Location
    qrcode: QrCode
    reusable: bool
    expires_at: dt.datetime | None
    value: Decimal
    status: str
    created_at: dt.datetime | None
    payer: Payer | None = None


@dataclass(frozen=True, slots=True)
class Payment:
    """The payment of a charge; the latest one if it is reusable."""

    reference: str
    status: Literal["pending", "paid"]
    value: Decimal
    created_at: dt.datetime | None
    paid_at: dt.datetime | None
    e2e_id: str
    payer: Payer | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An account at its bank."""

    bank_number: str
    ispb: str
    branch: str
    account: str
    name: str
    tax_number: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A movement; an id in ``tags`` that begins with D is of money that came or went back."""

    id: str
    operation: str
    type: Literal["credit", "debit"]
    value: Decimal
    description: str
    tags: tuple[str, ...]
    document_number: int
    counterparty: Party
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class PageMeta:
    """Which page of a list, the rows a page, and how many rows there are in all."""

    page: int
    limit: int
    total: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A page of the statement, newest entry first, with the balance."""

    data: tuple[Entry, ...]
    meta: PageMeta
    balance: Balance
    account: Account


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a payout failed: branch on ``code``, and take an unknown one as OTHER."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a payout goes, as it was ordered; fields of the other method are empty."""

    tax_number: str
    name: str = ""
    key_type: str = ""
    key: str = ""
    bank_number: str = ""
    branch: str = ""
    account: str = ""
    account_type: str = ""


@dataclass(frozen=True, slots=True)
class Payout:
    """A payout; ``paid`` and ``failed`` are final, and only a failed one has a failure."""

    reference: str
    method: str
    status: Literal["processing", "paid", "failed"]
    value: Decimal
    date: dt.date
    description: str
    e2e_id: str
    created_at: dt.datetime
    updated_at: dt.datetime
    settled_at: dt.datetime | None
    origin: Account
    destination: Destination
    failure: Failure | None = None

    @property
    def is_final(self) -> bool:
        """Whether its status never changes again."""
        return self.status != "processing"


@dataclass(frozen=True, slots=True)
class PayoutList:
    """A page of payouts, newest first."""

    data: tuple[Payout, ...]
    meta: PageMeta


@dataclass(frozen=True, slots=True)
class Event:
    """
    What happened at an account; read what it is about before you act.

    Attributes:
        id: The same each time that the event comes.
        type: Such as ``payout.paid``; pass over those that you do not know.
        data: Ids, such as ``reference``.
        cursor: To be stored once the event was dealt with; empty of a delivery.
    """

    id: str
    type: str
    timestamp: dt.datetime
    data: Mapping[str, Any]
    cursor: str = ""
