"""The statement: the ledger as the customer sees it, and the movements that are not Pix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from provider_adapters.simulated_bank.kernel import ledger
from provider_adapters.simulated_bank.kernel.books import Books
from provider_adapters.simulated_bank.kernel.paging import Page, Slice, count, cut
from provider_adapters.simulated_bank.kernel.refusals import Code, Refusal

# Ids have ten digits from the first line on.
_FIRST_NUMBER = 1_000_000_000
_ORDERED = ("pix_out", "pix_refund")
_INSERT = (
    "INSERT INTO statement"
    " (account_id, payout_id, kind, centavos, e2e_id, name, tax_number, description, at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_PAGE = (
    "SELECT *, (SELECT idempotency_key FROM payouts WHERE payouts.id = payout_id)"
    " AS idempotency_key FROM statement WHERE account_id = ? AND at >= ? AND at < ?"
    " AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One line of the statement.

    Attributes:
        kind: ``pix_in``, ``pix_out``, ``pix_returned``, ``pix_refund``, or, not
            Pix: ``fee``, ``ted_in``, ``ted_out``, ``boleto_in``, ``boleto_out``.
        centavos: Above zero for money in, below for money out.
        payout_id: The payout or refund it belongs to; also the line's id where
            the customer ordered the movement.
        idempotency_key: The payout's; read, never written.
        at: Microseconds since 1970.
    """

    account_id: str
    kind: str
    centavos: int
    at: int
    e2e_id: str | None = None
    payout_id: str | None = None
    idempotency_key: str | None = None
    name: str = ""
    tax_number: str = ""
    description: str = ""
    seq: int = 0

    @property
    def id(self) -> str:
        """The bank's identifier of the line: the payout's or refund's, or a number."""
        ordered = self.kind in _ORDERED and self.payout_id
        return ordered or number(self.seq)


def number(seq: int) -> str:
    """Return the id of a line that is no payout or refund."""
    return str(_FIRST_NUMBER + seq)


def write(books: Books, entry: Entry) -> int:
    """Insert a line and return its row number; call only beside its ledger movement."""
    values = (
        entry.account_id,
        entry.payout_id,
        entry.kind,
        entry.centavos,
        entry.e2e_id,
        entry.name,
        entry.tax_number,
        entry.description,
        entry.at,
    )
    return books.database.run(_INSERT, values)


def read(books: Books, account_id: str, wanted: Slice) -> Page[Entry]:
    """Read lines, newest first."""
    rows = books.database.all(_PAGE, wanted.values(account_id))
    entries = [Entry(**row) for row in rows]
    return cut(entries, [(entry.at, entry.seq) for entry in entries], wanted.limit)


def total(books: Books, account_id: str, wanted: Slice) -> int:
    """Count the lines of a window."""
    return count(books.database, "statement", account_id, wanted)


DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fee": "Tarifa",
        "ted_in": "TED recebida",
        "ted_out": "TED enviada",
        "boleto_in": "Boleto liquidado",
        "boleto_out": "Pagamento de boleto",
    }
)
"""Every kind, with its default description."""
_INTO: Final = frozenset({"ted_in", "boleto_in"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMovement:
    """
    A movement that is not Pix.

    Attributes:
        kind: One of ``DESCRIPTIONS``; it implies the direction.
        centavos: Above zero.
        at: Microseconds since 1970.
        name, tax_number: Of the counterparty.
    """

    account_id: str
    kind: str
    centavos: int
    at: int
    description: str = ""
    name: str = ""
    tax_number: str = ""


def book(books: Books, movement: OtherMovement) -> int:
    """
    Book a movement in ledger and statement, in one transaction; return its row number.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` above the available balance.
    """
    own = ledger.customer(movement.account_id)
    other = ledger.FEES if movement.kind == "fee" else ledger.SETTLEMENT
    comes_in = movement.kind in _INTO
    if not comes_in and ledger.balance(books.database, own) < movement.centavos:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")
    debit, credit = (other, own) if comes_in else (own, other)
    with books.database.transaction():
        ledger.move(
            books.database,
            ledger.Movement(
                debit=debit,
                credit=credit,
                centavos=movement.centavos,
                memo=movement.kind,
                at=movement.at,
            ),
        )
        return write(books, _line(movement, comes_in=comes_in))


def _line(movement: OtherMovement, *, comes_in: bool) -> Entry:
    return Entry(
        account_id=movement.account_id,
        kind=movement.kind,
        centavos=movement.centavos if comes_in else -movement.centavos,
        at=movement.at,
        name=movement.name,
        tax_number=movement.tax_number,
        description=movement.description or DESCRIPTIONS[movement.kind],
    )
