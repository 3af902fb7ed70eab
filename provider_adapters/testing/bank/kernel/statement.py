"""The statement: the ledger as the customer sees it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Table

# Ids have ten digits from the first line on.
_FIRST_NUMBER = 1_000_000_000
_ORDERED = ("pix_out", "pix_refund")


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
    values = asdict(entry)
    del values["seq"], values["idempotency_key"]
    return books.database.insert("statement", **values)


_SELECT = (
    "SELECT *, (SELECT idempotency_key FROM payouts WHERE payouts.id = payout_id)"
    " AS idempotency_key FROM statement"
)
read = Table(Entry, _SELECT, "statement", "at", "line").read
"""Read lines, newest first."""
