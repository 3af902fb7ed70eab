"""PIX keys of the bank's customers."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books
    from provider_adapters.testing.bank.kernel.database import Row

TYPES = ("cpf", "cnpj", "email", "phone", "evp")
STATUSES = ("active", "pending", "canceled")
_WITH_UUID = ("email", "evp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """
    A key as stored.

    Attributes:
        id: The bank's identifier: a UUID for e-mail and random keys, another
            form for the rest, because real banks differ in this.
        created_at: Microseconds since 1970.
    """

    id: str
    account_id: str
    key: str
    type: str
    status: str
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """An order of a key; the bank chooses what is None."""

    type: str
    key: str | None
    status: str = "active"
    id: str | None = None


_SELECT = "SELECT id, account_id, key, type, status, created_at FROM keys"


def add(books: Books, account_id: str, new: NewKey) -> Key:
    """
    Register a key.

    Raises:
        Refusal: ``INVALID_REQUEST`` for an unknown type or a missing key,
            ``KEY_IN_USE`` when a key that is not cancelled, or the id, exists.
    """
    key = _checked(books, new)
    sql = "SELECT 1 FROM keys WHERE (key = ? AND status <> 'canceled')"
    if books.database.one(f"{sql} OR (account_id = ? AND id = ?)", (key, account_id, new.id)):
        raise Refusal(Code.KEY_IN_USE, "the key or its id is in use")
    with books.database.transaction():
        seq = books.database.run(
            "INSERT INTO keys (id, account_id, key, type, status, created_at)"
            " VALUES ('', ?, ?, ?, ?, ?)",
            (account_id, key, new.type, new.status, books.clock.micros()),
        )
        key_id = new.id or _identifier(books, new.type, seq)
        books.database.run("UPDATE keys SET id = ? WHERE seq = ?", (key_id, seq))
    return get(books, account_id, key_id)


def get(books: Books, account_id: str, key_id: str) -> Key:
    """
    Find a customer's key by its id.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    sql = f"{_SELECT} WHERE account_id = ? AND id = ?"
    row = books.database.one(sql, (account_id, key_id))
    if row is None:
        what = "key"
        raise refusals.not_found(what)
    return _key(row)


def list_all(books: Books, account_id: str) -> list[Key]:
    """Return a customer's keys, oldest first, cancelled ones included."""
    rows = books.database.all(f"{_SELECT} WHERE account_id = ? ORDER BY seq", (account_id,))
    return [_key(row) for row in rows]


def active(books: Books, key: str) -> Key | None:
    """Find an active key of any customer of this bank."""
    row = books.database.one(f"{_SELECT} WHERE key = ? AND status = 'active'", (key,))
    return _key(row) if row else None


def cancel(books: Books, account_id: str, key_id: str) -> Key:
    """
    Cancel a key; safe to repeat.

    Raises:
        Refusal: ``NOT_FOUND``.
    """
    key = get(books, account_id, key_id)
    sql = "UPDATE keys SET status = 'canceled' WHERE account_id = ? AND id = ?"
    books.database.run(sql, (account_id, key.id))
    return get(books, account_id, key_id)


def _checked(books: Books, new: NewKey) -> str:
    if new.type not in TYPES or new.status not in STATUSES:
        problem = "unknown key type or status"
        raise refusals.invalid(problem)
    if new.key is None and new.type == "evp":
        return _uuid(books)
    if not new.key:
        problem = "only a random key may be left out"
        raise refusals.invalid(problem)
    return new.key


def _identifier(books: Books, key_type: str, seq: int) -> str:
    return _uuid(books) if key_type in _WITH_UUID else f"CH{seq:010d}"


def _uuid(books: Books) -> str:
    return str(uuid.UUID(hex=books.random_hex(16), version=4))


def _key(row: Row) -> Key:
    return Key(**row)
