"""The bank's customers: their accounts, tokens and balances."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from provider_adapters.testing.bank.kernel import ledger, refusals
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books


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


_SELECT = "SELECT * FROM accounts"


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
        books.database.insert("accounts", **asdict(account), token_digest=digest)
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


def hold(books: Books, account_id: str, centavos: int, memo: str) -> None:
    """
    Hold the money of an order; call only inside a transaction.

    Raises:
        Refusal: ``INSUFFICIENT_FUNDS`` above the available balance.
    """
    if centavos > balance(books, account_id).available:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "the balance is too low")
    free, held, at = ledger.customer(account_id), ledger.held(account_id), books.clock.micros()
    ledger.move(books.database, ledger.Movement(free, held, centavos, memo, at))


def balance(books: Books, account_id: str) -> Balance:
    """Read a customer's current balance."""
    names = (ledger.customer(account_id), ledger.blocked(account_id), ledger.held(account_id))
    free, ordered, held = (ledger.balance(books.database, name) for name in names)
    return Balance(owned=free + ordered + held, blocked=ordered + held)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _one(books: Books, where: str, *values: str) -> Account | None:
    return books.database.record(Account, f"{_SELECT} WHERE {where}", values)
