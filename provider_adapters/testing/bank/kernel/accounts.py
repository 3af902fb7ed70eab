"""The bank's customers: their accounts, tokens and balances."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gateway.core.money import MAX_CENTAVOS
from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books


class PayoutKind(StrEnum):
    """How the bank treats an idempotency key that it knows: same answer, 409, or a new payout."""

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
    """What a customer owns and how much of it is blocked, in centavos."""

    owned: int
    blocked: int

    @property
    def available(self) -> int:
        """What may be paid out, in centavos."""
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
    return refusals.found(_one(books, "id = ?", account_id), "account")


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
    return refusals.found(found, "account")


def require_available(books: Books, account_id: str, centavos: int) -> None:
    """Raise ``INSUFFICIENT_FUNDS`` for more than the available balance."""
    if centavos > balance(books, account_id).available:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")


def require_room(books: Books, account_id: str, centavos: int) -> None:
    """Raise ``BALANCE_LIMIT`` for what would make a balance larger than any amount."""
    if balance(books, account_id).owned + centavos > MAX_CENTAVOS:
        raise Refusal(Code.BALANCE_LIMIT, "the account would hold more than an amount can be")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _one(books: Books, where: str, *values: str) -> Account | None:
    return books.database.record(Account, f"{_SELECT} WHERE {where}", values)
