"""The content of a report, independent of its format (contract 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Balance, Direction, Entry
from gateway.core.account import BankCoordinates, Environment
from gateway.core.money import Money, Sum, sum_of
from gateway.core.windows import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """
    The content of a report.

    Attributes:
        holder: Name and tax number of the account's holder.
        entries: Oldest first, every movement of the window, Pix or not.
        balance: As reported by the bank while the report was made, for any window.
        opening: At the window's first instant; None where it is not known.
        closing: At the window's end, or now if that comes first; None where
            it is not known.
        generated_at: Time of the bank's last answer; aware.
        locked_at: Of a document of locked days: when the last of them was locked. Then
            ``generated_at`` is the window's end and ``balance`` the closing balance, so that the
            same days give the same bytes.
    """

    account_id: str
    holder: Party
    coordinates: BankCoordinates
    environment: Environment
    window: Window
    entries: tuple[Entry, ...]
    balance: Balance
    opening: Sum | None
    closing: Sum | None
    generated_at: datetime
    locked_at: datetime | None = None

    @property
    def credits(self) -> Sum:
        """The sum of credits."""
        return _sum(self.entries, Direction.CREDIT)

    @property
    def debits(self) -> Sum:
        """The sum of debits, not negative."""
        return _sum(self.entries, Direction.DEBIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """
    A movement as a row of a page's table.

    Attributes:
        lines: Kind, counterparty and reason; at least one.
        identifiers: May be empty.
        owed: Whether the amount is negative.
    """

    when: str
    lines: Sequence[str]
    identifiers: str
    amount: str
    owed: bool


def operation(entry: Entry) -> str:
    """Name a movement as the statement does: ``Pix In``, ``Pix Out``, else its kind."""
    if not entry.is_pix:
        return entry.kind.value
    return "Pix In" if entry.direction is Direction.CREDIT else "Pix Out"


def change(entry: Entry) -> Money:
    """Return a movement's effect on the balance: a debit is negative."""
    centavos = entry.value.centavos
    return Money(centavos if entry.direction is Direction.CREDIT else -centavos)


def _sum(entries: Iterable[Entry], direction: Direction) -> Sum:
    return sum_of(entry.value for entry in entries if entry.direction is direction)
