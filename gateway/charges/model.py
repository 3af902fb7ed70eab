"""
Charges that were ordered through us: the request, the record and its document.

They are stored so that lists need no query of a bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from gateway.banks.port.charges import ChargeType
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.schemas import PLAIN_TEXT, OptionalMoment, Reference, TaxNumber, Text
from gateway.core.windows import Keyset, PageStart
from gateway.http.rendering import Amount
from gateway.pix_keys.orders import KeyText


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


LONGEST_EXPIRY_S: Final = 315_360_000
"""Ten years of 365 days."""


ChargeWord = Literal["Dynamic", "Static"]
Name = Annotated[
    str, Meta(min_length=1, max_length=1024, extra_json_schema={"pattern": PLAIN_TEXT})
]
Expiry = Annotated[int, meaning("Seconds from now.", ge=1, le=LONGEST_EXPIRY_S)]


class PayerBody(Struct):
    """The requested payer."""

    name: Annotated[Name, meaning("Name, as people know it.", "Maria Silva")]
    tax_number: TaxNumber
    message: Annotated[Text, meaning("What the payer writes.")] = ""


Reusable = Annotated[
    bool, meaning("A static code can be paid again and again, whatever is said here.")
]


class ChargeBody(Struct):
    """A charge to be made; without ``value`` the payer chooses, without ``payer`` anybody pays."""

    reference: Reference
    type: Annotated[ChargeWord, meaning("Which type it is.")]
    key: KeyText
    value: Annotated[Money | None, meaning("Amount in reais.")] = None
    expires_in: Annotated[Expiry | None, meaning("Seconds after which the charge expires.")] = None
    payer: Annotated[PayerBody | None, meaning("Who is to pay; absent for anybody.")] = None
    description: Annotated[
        Text, meaning("A text that the recipient or payer may see; may be empty.", "Order 1042")
    ] = ""
    reusable: Reusable = False


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
        paid_at, e2e_id: Of the last known payment; empty again where the bank's charge
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
        """The amount of the last payment; None where it is not known."""
        return None if self.paid_centavos is None else Money(self.paid_centavos)

    def state_at(self, now: datetime) -> ChargeState:
        """Return the state, ``EXPIRED`` for an active charge past its expiry."""
        is_over = self.expires_at is not None and self.expires_at <= now
        return ChargeState.EXPIRED if is_over and self.state is ChargeState.ACTIVE else self.state


class ChargeRecordDocument(Struct, frozen=True):
    """
    A charge that was ordered through us; ``status`` is what was last known, at ``updated_at``.

    ``Unknown`` is one that its bank has not confirmed. ``value`` is 0 for an open
    amount. ``paid_at``, ``paid_value`` and ``e2e_id`` are those of the last payment that was seen.
    """

    id: fields.Id
    account_id: fields.AccountId
    reference: fields.Reference
    provider: fields.Provider
    type: Annotated[Literal["Static", "Dynamic"], meaning("Which type it is.")]
    reusable: Annotated[bool, meaning("Whether it may be paid several times.")]
    value: Amount
    status: Annotated[
        Literal["Unknown", "Active", "Expired", "Paid", "Canceled"],
        meaning("The state that it is in."),
    ]
    created_at: OptionalMoment
    expires_at: OptionalMoment
    updated_at: OptionalMoment
    paid_at: OptionalMoment
    paid_value: Annotated[
        Amount, meaning("Paid by that payment; 0 where there is none, or its amount is unknown.")
    ]
    e2e_id: fields.E2eId


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
        reference: Of the charge; empty for a listed payment that names none.
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
        offset: Number of charges before the page.
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
