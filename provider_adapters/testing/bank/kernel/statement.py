"""The statement, which is the bank's ledger: whatever an account owns is the sum of its lines."""

from __future__ import annotations

from dataclasses import dataclass

from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.database import Database
from provider_adapters.testing.bank.kernel.paging import Table

# As long as Stark Bank's ids: above 2**32, so that a client of 32 bits fails in the sandbox and not
# in production, and below 2**53, so that JavaScript reads each digit.
_FIRST_NUMBER = 5_000_000_000_000_000
_ORDERED = ("pix_out", "pix_refund")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One line of the statement.

    Attributes:
        kind: ``pix_in``, ``pix_out``, ``pix_returned``, ``pix_refund``, or, not
            Pix: ``fee``, ``ted_in``, ``ted_out``, ``boleto_in``, ``boleto_out``.
        centavos: Above zero for money in, below for money out.
        reference: Of the charge that it pays, if any.
        payout_id: The payout or refund it belongs to; also the line's id where
            the customer ordered the movement.
        idempotency_key: The payout's; read, never written.
    """

    account_id: str
    kind: str
    centavos: int
    at: int
    e2e_id: str | None = None
    reference: str | None = None
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
    """
    Insert a line and return its row number.

    Raises:
        sqlite3.IntegrityError: The account would own less than nothing, or does not exist.
    """
    return books.database.insert("statement", entry)


def balanced(database: Database) -> bool:
    """
    Return whether the books agree with each other.

    That is: each account owns the sum of its lines and no less than what is blocked of it; the
    lines are those of the settled payouts and refunds and of the returns; and what a payout
    takes from one customer for another has arrived there.
    """
    return not any(database.one(sql) for sql in _VIOLATIONS)


_OWNED_OTHERWISE = (
    "SELECT id FROM accounts WHERE"
    " owned <> (SELECT coalesce(sum(centavos), 0) FROM statement WHERE account_id = accounts.id)"
    " OR owned < (SELECT coalesce(sum(centavos), 0) FROM blocked WHERE account_id = accounts.id)"
)
_NOT_AS_ORDERED = (
    "SELECT kind FROM ("
    " SELECT account_id, kind, payout_id, centavos FROM statement"
    " WHERE kind IN ('pix_out', 'pix_refund', 'pix_returned')"
    " UNION ALL SELECT account_id, 'pix_out', id, settled_centavos FROM payouts"
    " WHERE settled_at IS NOT NULL"
    " UNION ALL SELECT account_id, 'pix_refund', id, centavos FROM refunds"
    " WHERE state = 'settled'"
    " UNION ALL SELECT account_id, 'pix_returned', payouts.id, -json_extract(value, '$[1]')"
    " FROM payouts, json_each(returns)"
    ") GROUP BY account_id, kind, payout_id HAVING sum(centavos) <> 0"
)
_NOT_ARRIVED = (
    "SELECT id FROM payouts WHERE settled_at IS NOT NULL AND credit_to IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM statement WHERE account_id = credit_to AND statement.e2e_id = payouts.e2e_id"
    " AND centavos = settled_centavos)"
)
_VIOLATIONS = (_OWNED_OTHERWISE, _NOT_AS_ORDERED, _NOT_ARRIVED)

_SELECT = (
    "SELECT *, (SELECT idempotency_key FROM payouts WHERE payouts.id = payout_id)"
    " AS idempotency_key FROM statement"
)
read = Table(Entry, _SELECT, "statement", "at", "line").read
"""Read lines, newest first."""
