"""A report of an account with a movement of every kind, and how to change it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import msgspec

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Balance, Direction, Entry, MovementKind
from gateway.core.account import BankCoordinates, Environment
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.reports.document import Document
from gateway.reports.formats import Write, WritePieces
from tests.world.people import ACCOUNT
from tests.world.standing import NOON

MARIA = Party(name="Maria da Conceição", tax_number="52998224725")

ENTRY = Entry(
    provider_id="mov-1",
    e2e_id="E12345678202611201200abcdefghij1",
    direction=Direction.CREDIT,
    is_pix=True,
    value=Money(123456),
    description="pão",
    counterparty=MARIA,
    created_at=NOON,
    kind=MovementKind.PIX,
)
FEE = msgspec.structs.replace(
    ENTRY,
    provider_id="mov-2",
    e2e_id="",
    direction=Direction.DEBIT,
    is_pix=False,
    value=Money(250),
    description="Tarifa mensal",
    counterparty=Party(),
    created_at=NOON + timedelta(minutes=1),
    kind=MovementKind.FEE,
)

DOCUMENT = Document(
    account_id=ACCOUNT,
    holder=Party(name="Padaria São João Ltda", tax_number="11222333000181"),
    coordinates=BankCoordinates(
        bank_number="341", ispb="60701190", branch="0001", account="123456-7"
    ),
    environment=Environment.PRODUCTION,
    window=Window(date(2026, 11, 1), date(2026, 11, 20)),
    entries=(ENTRY, FEE),
    balance=Balance(balance=Money(223206), blocked=Money(0), updated_at=NOON),
    opening=Money(100000),
    closing=Money(223206),
    generated_at=NOON + timedelta(hours=1),
)


def entry(**changed: object) -> Entry:
    """A Pix of R$ 1,234.56 from Maria at noon, but for what is changed."""
    return msgspec.structs.replace(ENTRY, **changed)


def document(*entries: Entry, **changed: object) -> Document:
    return replace(DOCUMENT, entries=entries, **changed)  # type: ignore[arg-type]


def whole(pieces: WritePieces) -> Write:
    """Return a function that writes a document at once from its pieces."""
    return lambda document: b"".join(pieces(document, [document.entries]))
