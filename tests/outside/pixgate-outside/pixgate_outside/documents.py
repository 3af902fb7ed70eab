"""The bank's JSON documents. TODO: the bank's fields; what may be absent has a default."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final

import msgspec

from pixgate_outside.amounts import ABSENT, Amount, OptionalAmount
from pixgate_outside.pages import Listing

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
"""With its zone; without one it is no instant."""


class Error(msgspec.Struct, frozen=True):
    """The bank's error code."""

    code: str


class Refusal(msgspec.Struct, frozen=True):
    """The body of every answer that is no 2xx."""

    error: Error


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """A balance; ``total`` includes what is blocked."""

    total: Amount
    blocked: Amount
    updated_at: Instant | None = None


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A payer or payee."""

    name: str | None = None
    tax_number: str | None = None
    message: str | None = None


class Movement(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the statement; ``external_id`` is our key of a payout."""

    id: str
    kind: str
    direction: str
    amount: Amount
    created_at: Instant
    end_to_end_id: str | None = None
    external_id: str | None = None
    description: str | None = None
    counterparty: Person | None = None


class Statement(Listing, frozen=True, kw_only=True):
    """A page of the statement, newest first."""

    items: list[Movement]


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A PIX key."""

    id: str
    key: str
    type: str
    status: str
    created_at: Instant | None = None


class Keys(msgspec.Struct, frozen=True):
    """All keys of an account."""

    items: list[Key]


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """A charge; ``payload`` is what the QR code holds."""

    reference: str
    type: str
    key: str
    status: str
    payload: str
    amount: OptionalAmount = ABSENT
    reusable: bool = False
    payer: Person | None = None
    receiver: Person | None = None
    city: str | None = None
    zip_code: str | None = None
    created_at: Instant | None = None
    expires_at: Instant | None = None


class Payment(msgspec.Struct, frozen=True, kw_only=True):
    """The payment of a charge."""

    amount: Amount
    paid_at: Instant
    end_to_end_id: str
    payer: Person | None = None


class PaidCharge(msgspec.Struct, frozen=True, kw_only=True):
    """A charge and its latest payment."""

    charge: Charge
    payment: Payment | None = None


class Return(msgspec.Struct, frozen=True, kw_only=True):
    """What came back of a payout; its id begins with ``D``."""

    id: str
    amount: Amount
    at: Instant


class Failure(msgspec.Struct, frozen=True):
    """Why a payout failed."""

    code: str


class Payout(msgspec.Struct, frozen=True, kw_only=True):
    """A payout; ``external_id`` is our key."""

    id: str
    external_id: str
    amount: Amount
    status: str
    end_to_end_id: str | None = None
    destination: Mapping[str, str] | None = None
    held_until: Instant | None = None
    settled_at: Instant | None = None
    failure: Failure | None = None
    returns: tuple[Return, ...] = ()


REFUSAL: Final = msgspec.json.Decoder(Refusal)
BALANCE: Final = msgspec.json.Decoder(Balance)
STATEMENT: Final = msgspec.json.Decoder(Statement)
KEYS: Final = msgspec.json.Decoder(Keys)
CHARGE: Final = msgspec.json.Decoder(Charge)
PAID_CHARGE: Final = msgspec.json.Decoder(PaidCharge)
PAYOUT: Final = msgspec.json.Decoder(Payout)

HARMLESS: Final = frozenset(
    {
        "amount",
        "at",
        "blocked",
        "code",
        "created_at",
        "direction",
        "end_to_end_id",
        "expires_at",
        "held_until",
        "kind",
        "paid_at",
        "reusable",
        "settled_at",
        "status",
        "total",
        "type",
        "updated_at",
    }
)
"""The fields a transcript may show: no names, tax numbers, keys, references or free text."""
