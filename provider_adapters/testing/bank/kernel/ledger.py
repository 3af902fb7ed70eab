"""The double-entry ledger: each movement debits one account and credits another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.database import Database

SETTLEMENT = "settlement"
"""The account of all other banks, through the central bank's settlement."""
FEES = "fees"
"""The bank's fees."""


@dataclass(frozen=True, slots=True)
class Movement:
    """
    Money from one ledger account to another.

    Attributes:
        centavos: How much; above zero.
        at: When, in microseconds since 1970.
    """

    debit: str
    credit: str
    centavos: int
    memo: str
    at: int


def customer(account_id: str) -> str:
    """Return the ledger account of a customer's available money."""
    return f"customer:{account_id}"


def blocked(account_id: str) -> str:
    """Return the ledger account of a customer's blocked money."""
    return f"blocked:{account_id}"


def held(account_id: str) -> str:
    """Return the ledger account of payouts and refunds accepted but not settled."""
    return f"held:{account_id}"


def open_own_accounts(database: Database) -> None:
    """Open the bank's own accounts; safe to repeat."""
    for name in (SETTLEMENT, FEES):
        sql = "INSERT INTO ledger (name, guarded) VALUES (?, 0) ON CONFLICT DO NOTHING"
        database.run(sql, (name,))


def open_customer(database: Database, account_id: str) -> None:
    """Open a customer's accounts; the schema keeps them at zero or above."""
    for name in (customer(account_id), blocked(account_id), held(account_id)):
        database.insert("ledger", name=name, guarded=1)


def move(database: Database, movement: Movement) -> None:
    """
    Book a movement; call only inside a transaction.

    Raises:
        ValueError: The amount is not above zero.
        sqlite3.IntegrityError: A customer's account would go below zero, or
            does not exist; roll the transaction back.
    """
    if movement.centavos <= 0:
        message = "a movement is above zero"
        raise ValueError(message)
    journal_id = database.insert("journal", at=movement.at, memo=movement.memo)
    _enter(database, journal_id, movement.debit, -movement.centavos)
    _enter(database, journal_id, movement.credit, movement.centavos)


def balance(database: Database, name: str) -> int:
    """Return an account's balance in centavos; zero when it does not exist."""
    row = database.one("SELECT centavos FROM ledger WHERE name = ?", (name,))
    return int(row["centavos"]) if row else 0


def balances(database: Database) -> dict[str, int]:
    """Return the balance of every ledger account, in centavos."""
    rows = database.all("SELECT name, centavos FROM ledger ORDER BY name")
    return {str(row["name"]): int(row["centavos"]) for row in rows}


def total(database: Database) -> int:
    """Return the sum of all accounts; anything but zero is an error."""
    return sum(balances(database).values())


def balanced(database: Database) -> bool:
    """
    Return whether the whole ledger is balanced.

    That is: all accounts add up to zero, each journal line has two
    entries that cancel, each account is the sum of its entries, and each
    customer's statement adds up to what the customer owns.
    """
    return total(database) == 0 and not any(database.one(sql) for sql in _VIOLATIONS)


def _enter(database: Database, journal_id: int, name: str, centavos: int) -> None:
    database.insert("entries", journal_id=journal_id, name=name, centavos=centavos)
    database.run("UPDATE ledger SET centavos = centavos + ? WHERE name = ?", (centavos, name))


_LINES_NOT_CANCELLING = (
    "SELECT id FROM journal LEFT JOIN entries ON journal_id = id"
    " GROUP BY id HAVING count(journal_id) <> 2 OR sum(centavos) <> 0"
)
_ACCOUNTS_NOT_ADDING_UP = (
    "SELECT ledger.name FROM ledger LEFT JOIN entries ON entries.name = ledger.name"
    " GROUP BY ledger.name HAVING ledger.centavos <> coalesce(sum(entries.centavos), 0)"
)
_STATEMENTS_NOT_ADDING_UP = (
    "SELECT id FROM accounts WHERE"
    " (SELECT coalesce(sum(centavos), 0) FROM statement WHERE account_id = accounts.id)"
    " <> (SELECT sum(centavos) FROM ledger WHERE name IN"
    " ('customer:' || accounts.id, 'blocked:' || accounts.id, 'held:' || accounts.id))"
)
_VIOLATIONS = (_LINES_NOT_CANCELLING, _ACCOUNTS_NOT_ADDING_UP, _STATEMENTS_NOT_ADDING_UP)
