"""Stored charges that were ordered through us, so that lists need no query of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from gateway.banks.port.charges import ChargeType
from gateway.core.money import Money, Sum
from gateway.core.windows import Keyset, PageStart


class ChargeState(StrEnum):
    """
    Last known state of a charge.

    UNKNOWN: It was ordered, and no answer of its bank proves that it was made. EXPIRED: Active, and
    past its expiry; never stored.
    """

    UNKNOWN = "Unknown"
    ACTIVE = "Active"
    EXPIRED = "Expired"
    PAID = "Paid"
    CANCELED = "Canceled"


class ChargeRecord(Struct, frozen=True, kw_only=True):
    """
    A charge that was ordered through us.

    Attributes:
        id: A UUID of ours.
        centavos: None for an open amount.
        state: As last reported by the bank.
        created_at: When it was ordered.
        expires_at: None when it never expires.
        updated_at: Time of the query behind this state; later answers correct it.
        paid_at, e2e_id: Of the last payment that was seen; empty again where the bank's charge
            turns out not to be paid.
        paid_centavos: Amount of that payment; None without a payment or a reported amount.
        payer_name: The last payer, else the requested one; empty if unnamed.
        description: Text for the payer; may be empty.
        made_until: Until then its order is being made, or its outcome is unknown: no other
            process queries the bank for a charge of this reference.
    """

    id: str
    account_id: str
    reference: str
    provider: str
    type: ChargeType
    reusable: bool
    centavos: int | None
    state: ChargeState
    created_at: datetime
    expires_at: datetime | None
    updated_at: datetime
    paid_at: datetime | None = None
    paid_centavos: int | None = None
    e2e_id: str = ""
    payer_name: str = ""
    description: str = ""
    made_until: datetime | None = None

    @property
    def value(self) -> Money | None:
        """The amount; None for an open one."""
        return None if self.centavos is None else Money(self.centavos)

    @property
    def paid_value(self) -> Money | None:
        """What the last payment paid; None where that is not known."""
        return None if self.paid_centavos is None else Money(self.paid_centavos)

    def state_at(self, now: datetime) -> ChargeState:
        """Return the state, ``EXPIRED`` for an active charge past its expiry."""
        is_over = self.expires_at is not None and self.expires_at <= now
        return ChargeState.EXPIRED if is_over and self.state is ChargeState.ACTIVE else self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCharge:
    """
    A bank's answer about a charge, which may not be one of ours.

    Attributes:
        state: None where the charge is not paid, and the answer does not show whether it is
            active or cancelled.
        at: Time of the query: of two answers, the later query counts.
        paid_at, e2e_id: Of the payment, where the answer has one.
        paid: The amount of the payment; None where the answer has none.
        payer_name: The payer, else the requested one.
        is_listed: A payment from the list of all that came in, with its amount. It names the
            charge, and that alone proves nothing: it pays the charge only where the amount
            suffices. False for the bank's answer about the charge itself.
    """

    account_id: str
    reference: str
    state: ChargeState | None
    at: datetime
    paid_at: datetime | None = None
    e2e_id: str = ""
    paid: Money | None = None
    payer_name: str = ""
    is_listed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeSearch:
    """
    Search parameters of charges, newest first; None for all.

    Attributes:
        offset: How many are left out before the page.
        text: A requested or paid amount, or a part of a reference or of a payer's
            name, with which the newest charges alone are compared.
    """

    page: Keyset
    offset: int = 0
    since: datetime | None = None
    until: datetime | None = None
    account_id: str | None = None
    reference: str | None = None
    state: ChargeState | None = None
    text: str | None = None


COUNTED_AT_MOST: Final = 10_000
"""Charges that one search adds up."""


@dataclass(frozen=True, slots=True)
class ChargeSums:
    """
    Number of charges that a search finds, and their total; open amounts count as zero.

    Attributes:
        complete: Whether every charge was counted; else only the newest were.
    """

    count: int
    value: Sum
    complete: bool


@dataclass(frozen=True, slots=True)
class ChargePage:
    """
    A page of charges, newest first.

    Attributes:
        next: Start of the following page; None on the last page.
        now: Time that decides on expiry.
    """

    charges: Sequence[ChargeRecord]
    limit: int
    next: PageStart | None
    now: datetime
