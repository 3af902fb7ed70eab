"""What a dialect keeps beside the books: tokens, certificates, public keys, ids of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books

_LIVE = "(until IS NULL OR until > ?)"
_SELECT = "SELECT * FROM dialect_state"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """
    A value under a kind and a name.

    Attributes:
        kind: The dialect's word, such as ``token``.
        account_id: Empty for what belongs to no account.
        until: Microseconds since 1970 from which on it is gone; None: it stays.
    """

    kind: str
    name: str
    value: str
    account_id: str = ""
    until: int | None = None


def put(books: Books, kept: Kept) -> None:
    """Keep a value; the former one of the same kind and name is gone."""
    remove(books, kept.kind, kept.name)
    books.database.insert("dialect_state", kept)


def find(books: Books, kind: str, name: str) -> Kept | None:
    """Find a value by its kind and name."""
    sql = f"{_SELECT} WHERE kind = ? AND name = ? AND {_LIVE}"
    return books.database.record(Kept, sql, (kind, name, books.clock.micros()))


def of_account(books: Books, kind: str, account_id: str) -> list[Kept]:
    """Return all values of a kind that belong to an account, oldest first."""
    sql = f"{_SELECT} WHERE kind = ? AND account_id = ? AND {_LIVE} ORDER BY rowid"
    return books.database.records(Kept, sql, (kind, account_id, books.clock.micros()))


def remove(books: Books, kind: str, name: str) -> None:
    """Forget a value; safe to repeat."""
    books.database.run("DELETE FROM dialect_state WHERE kind = ? AND name = ?", (kind, name))
