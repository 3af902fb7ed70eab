"""The bank's customers: their accounts, tokens and balances."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from provider_adapters.testing.bank.kernel import ledger, refusals
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books
    from provider_adapters.testing.bank.kernel.database import Row


TYPES: Final = ("checking", "savings", "salary", "payment")
"""The types of an account."""


class PayoutKind(StrEnum):
    """How the bank treats an idempotency key that it knows: same answer, 409, or a new payout."""

    IDEM = "idem"
    DUP = "dup"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """
    A customer's account.

    Attributes:
        payout_limit: The largest payout, in centavos; None for no limit.
        created_at: Microseconds since 1970.
    """

    id: str
    name: str
    tax_number: str
    branch: str
    number: str
    type: str
    city: str
    zip_code: str
    payout_kind: PayoutKind
    payout_limit: int | None
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


_COLUMNS = (
    "id, name, tax_number, branch, number, type, city, zip_code,"
    " payout_kind, payout_limit, created_at"
)
_INSERT = (
    f"INSERT INTO accounts ({_COLUMNS}, token_digest)"  # noqa: S608 - names of columns only
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = f"SELECT {_COLUMNS} FROM accounts"  # noqa: S608 - names of columns only


def add(books: Books, account: Account, token: str) -> None:
    """
    Open an account; only the digest of its token is stored.

    Raises:
        Refusal: ``ALREADY_EXISTS`` for a known id, token, or branch and number.
    """
    digest = _digest(token)
    taken = books.database.one(
        "SELECT 1 FROM accounts WHERE id = ? OR token_digest = ? OR (branch = ? AND number = ?)",
        (account.id, digest, account.branch, account.number),
    )
    if taken:
        raise Refusal(Code.ALREADY_EXISTS, "an account with this id or token exists")
    with books.database.transaction():
        books.database.run(_INSERT, (*_values(account), digest))
        ledger.open_customer(books.database, account.id)


def change(books: Books, account: Account) -> None:
    """Store another payout kind and limit."""
    sql = "UPDATE accounts SET payout_kind = ?, payout_limit = ? WHERE id = ?"
    books.database.run(sql, (account.payout_kind, account.payout_limit, account.id))


def change_token(books: Books, account_id: str, token: str) -> None:
    """Replace an account's token; the former one is unknown from now on."""
    sql = "UPDATE accounts SET token_digest = ? WHERE id = ?"
    books.database.run(sql, (_digest(token), account_id))


def get(books: Books, account_id: str) -> Account:
    """
    Find an account by its id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    row = books.database.one(f"{_SELECT} WHERE id = ?", (account_id,))
    if row is None:
        what = "account"
        raise refusals.not_found(what)
    return _account(row)


def list_all(books: Books) -> list[Account]:
    """Return all accounts, oldest first."""
    return [_account(row) for row in books.database.all(f"{_SELECT} ORDER BY created_at, id")]


def by_token(books: Books, token: str) -> Account | None:
    """Find the account of a token."""
    row = books.database.one(f"{_SELECT} WHERE token_digest = ?", (_digest(token),))
    return _account(row) if row else None


def by_coordinates(books: Books, branch: str, number: str) -> Account | None:
    """Find an account of this bank by branch and number."""
    sql = f"{_SELECT} WHERE branch = ? AND number = ?"
    row = books.database.one(sql, (branch, number))
    return _account(row) if row else None


def balance(books: Books, account_id: str) -> Balance:
    """Read a customer's current balance."""
    names = (ledger.customer(account_id), ledger.blocked(account_id), ledger.held(account_id))
    free, ordered, held = (ledger.balance(books.database, name) for name in names)
    return Balance(owned=free + ordered + held, blocked=ordered + held)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _values(account: Account) -> tuple[str | int | None, ...]:
    return (
        account.id,
        account.name,
        account.tax_number,
        account.branch,
        account.number,
        account.type,
        account.city,
        account.zip_code,
        account.payout_kind,
        account.payout_limit,
        account.created_at,
    )


def _account(row: Row) -> Account:
    return Account(**{**row, "payout_kind": PayoutKind(row["payout_kind"])})
