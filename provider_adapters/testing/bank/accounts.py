"""The bank's customers: accounts, tokens, balances, blocked money and statements."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.core.money import MAX_CENTAVOS
from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.books import Books, Database, Table
from provider_adapters.testing.bank.messages import Code, Refusal


class PayoutKind(StrEnum):
    """The bank's reaction to a known idempotency key: same answer, 409, or a new payout."""

    IDEM = "idem"
    DUP = "dup"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A customer's account."""

    id: str
    name: str
    tax_number: str
    branch: str
    number: str
    city: str
    zip_code: str
    payout_kind: PayoutKind
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """A customer's money and the blocked part of it, in centavos."""

    owned: int
    blocked: int

    @property
    def available(self) -> int:
        """The amount available for payouts, in centavos."""
        return self.owned - self.blocked


_SELECT = "SELECT * FROM accounts"
_BALANCE = (
    "SELECT owned, (SELECT coalesce(sum(centavos), 0) FROM blocked"
    " WHERE account_id = accounts.id) AS blocked FROM accounts WHERE id = ?"
)


def add(books: Books, account: Account, token: str) -> None:
    """
    Open an account; only the digest of its token is stored.

    Raises:
        Refusal: ``ALREADY_EXISTS`` for a known id, token, or branch and number.
    """
    try:
        books.database.insert("accounts", account, token_digest=_digest(token))
    except sqlite3.IntegrityError as problem:
        raise Refusal(Code.ALREADY_EXISTS, "an account with this id or token exists") from problem


def get(books: Books, account_id: str) -> Account:
    """Find an account by its id; raises ``NOT_FOUND``."""
    return messages.found(_one(books, "id = ?", account_id), "account")


def list_all(books: Books) -> list[Account]:
    """Return all accounts, oldest first."""
    return books.database.records(Account, f"{_SELECT} ORDER BY created_at, id")


def by_token(books: Books, token: str) -> Account | None:
    """Find the account of a token."""
    return _one(books, "token_digest = ?", _digest(token))


def by_coordinates(books: Books, branch: str, number: str) -> Account | None:
    """Find an account of this bank by branch and number."""
    return _one(books, "branch = ? AND number = ?", branch, number)


def balance(books: Books, account_id: str) -> Balance:
    """Read a customer's current balance."""
    found = books.database.record(Balance, _BALANCE, (account_id,))
    return messages.found(found, "account")


def require_available(books: Books, account_id: str, centavos: int) -> None:
    """Raise ``INSUFFICIENT_FUNDS`` for more than the available balance."""
    if centavos > balance(books, account_id).available:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")


def require_room(books: Books, account_id: str, centavos: int) -> None:
    """Raise ``BALANCE_LIMIT`` if the credit would make a balance larger than any amount."""
    if balance(books, account_id).owned + centavos > MAX_CENTAVOS:
        raise Refusal(Code.BALANCE_LIMIT, "the account would hold more than an amount can be")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _one(books: Books, where: str, *values: str) -> Account | None:
    return books.database.record(Account, f"{_SELECT} WHERE {where}", values)


BLOCK_KINDS: Final = ("med", "court", "bank", "contract")
"""Central bank's special return mechanism, court order, the bank's own decision, contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Money that is blocked; the reference is such as the number of a lawsuit."""

    kind: str
    centavos: int
    reference: str
    since: int


def block(books: Books, account_id: str, wanted: Block) -> None:
    """Block available money; raises ``INSUFFICIENT_FUNDS`` above the available balance."""
    require_available(books, account_id, wanted.centavos)
    books.database.insert("blocks", wanted, account_id=account_id)


def unblock(books: Books, account_id: str, centavos: int) -> None:
    """
    Make blocked money available again, the oldest block first, in one transaction.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` when less is blocked.
    """
    sql = "SELECT seq, centavos FROM blocks WHERE account_id = ? ORDER BY seq"
    with books.database.transaction():
        for row in books.database.all(sql, (account_id,)):
            left = max(row["centavos"] - centavos, 0)
            centavos -= row["centavos"] - left
            if left:
                books.database.update("blocks", row["seq"], centavos=left)
            else:
                books.database.run("DELETE FROM blocks WHERE seq = ?", (row["seq"],))
        if centavos:
            raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")


def blocks(books: Books, account_id: str) -> Sequence[Block]:
    """
    Return the blocks, oldest first; their sum is the balance's blocked amount.

    Payouts and refunds under way are one block of the bank's.
    """
    sql = "SELECT * FROM blocked WHERE account_id = ? ORDER BY seq"
    return books.database.records(Block, sql, (account_id,))


def blocked(books: Books, account_id: str, kind: str) -> int:
    """Return the amount blocked for one reason, in centavos."""
    return sum(each.centavos for each in blocks(books, account_id) if each.kind == kind)


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
        return ordered or line_number(self.seq)


def line_number(seq: int) -> str:
    """Return the id of a line that is no payout or refund."""
    return str(_FIRST_NUMBER + seq)


def write_line(books: Books, entry: Entry) -> int:
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

_STATEMENT = (
    "SELECT *, (SELECT idempotency_key FROM payouts WHERE payouts.id = payout_id)"
    " AS idempotency_key FROM statement"
)
statement = Table(Entry, _STATEMENT, "statement", "at", "line").read
"""Read lines, newest first."""
