"""PIX keys of the bank's customers."""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provider_adapters.testing.bank.kernel.paging import Table
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, require

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books

TYPES = ("cpf", "cnpj", "email", "phone", "evp")
_WITH_UUID = ("email", "evp")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """An order of a key; the bank chooses what is None."""

    type: str
    key: str | None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """
    A key as stored.

    Its id is a UUID for e-mail and random keys, another form for the rest, because real banks
    differ in this.
    """

    id: str
    account_id: str
    key: str
    type: str
    status: str
    created_at: int
    seq: int = 0


_ACTIVE = "SELECT * FROM keys WHERE key = ? AND status = 'active'"
_TABLE = Table(Key, "SELECT * FROM keys", "keys", "created_at", "key")
get = _TABLE.by("id")
"""Find a customer's key by its id; raises ``NOT_FOUND``."""
list_all = _TABLE.all
"""Return a customer's keys, oldest first, cancelled ones included."""


def add(books: Books, account_id: str, new: NewKey) -> Key:
    """
    Register a key.

    Raises:
        Refusal: ``INVALID_REQUEST`` for an unknown type or a missing key,
            ``KEY_IN_USE`` when a key that is not cancelled, or the id, exists.
    """
    require(new.type in TYPES, "unknown key type")
    key = _uuid(books) if new.key is None and new.type == "evp" else new.key
    require(key, "only a random key may be left out")
    chosen = _uuid(books) if new.type in _WITH_UUID else f"CH{int(books.random_hex(4), 16):010d}"
    named, at = new.id or chosen, books.clock.micros()
    try:
        books.database.insert("keys", new, id=named, account_id=account_id, key=key, created_at=at)
    except sqlite3.IntegrityError as problem:
        raise Refusal(Code.KEY_IN_USE, "the key or its id is in use") from problem
    return get(books, account_id, named)


def usable(books: Books, account_id: str) -> list[Key]:
    """Return a customer's active keys, oldest first."""
    return [key for key in list_all(books, account_id) if key.status == "active"]


def active(books: Books, key: str) -> Key | None:
    """Find an active key of any customer of this bank."""
    return books.database.record(Key, _ACTIVE, (key,))


def owned(books: Books, account_id: str, key: str) -> Key | None:
    """Find an active key if it is the customer's own."""
    held = active(books, key)
    return held if held and held.account_id == account_id else None


def cancel(books: Books, account_id: str, key_id: str) -> Key:
    """Cancel a key; safe to repeat; raises ``NOT_FOUND``."""
    key = get(books, account_id, key_id)
    books.database.update("keys", key.seq, status="canceled")
    return get(books, account_id, key_id)


def _uuid(books: Books) -> str:
    return str(uuid.UUID(hex=books.random_hex(16), version=4))
