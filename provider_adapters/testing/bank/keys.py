"""PIX keys of the bank's customers, the owners of keys, and destinations of payouts."""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass

from provider_adapters.testing.bank import accounts, magic_values
from provider_adapters.testing.bank.accounts import Account
from provider_adapters.testing.bank.books import Books, Table
from provider_adapters.testing.bank.messages import Code, Refusal, require

TYPES = ("cpf", "cnpj", "email", "phone", "evp")
_WITH_UUID = ("email", "evp")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """An order of a key; the bank chooses fields that are None."""

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


_HELD = (
    "SELECT keys.*, name, tax_number, branch, number AS account, ? AS ispb, ? AS bank,"
    " ? AS bank_name FROM keys JOIN accounts ON accounts.id = account_id"
    " WHERE key = ? AND status = 'active'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """
    A key, or a bank account.

    Attributes:
        tax_number: The recipient's, as the payer gave it; digits.
        bank: COMPE code or ISPB, with ``branch`` and ``account``.
        sent: The destination as it was sent, JSON text, for answers.
    """

    tax_number: str
    sent: str
    name: str = ""
    key: str | None = None
    bank: str | None = None
    branch: str | None = None
    account: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner of a key; ``bank`` is a COMPE code."""

    key: str
    type: str
    name: str
    tax_number: str
    ispb: str
    bank: str
    bank_name: str
    branch: str
    account: str


def resolve(books: Books, to: Destination) -> str | None:
    """
    Return the account of this bank that is meant; None for another bank's.

    Raises:
        Refusal: For a magic destination; ``ACCOUNT_INVALID`` for an account that
            this bank does not have; ``OWNER_MISMATCH`` for a wrong tax number.
    """
    magic_values.refuse_destination(to.key, to.account)
    owner = _customer(books, to)
    if owner is None:
        return None
    if owner.tax_number != to.tax_number:
        raise Refusal(Code.OWNER_MISMATCH, "the tax number is not the owner's")
    return owner.id


def look_up(books: Books, key: str) -> Owner:
    """Return the owner of a key, invented at another bank; raises ``KEY_NOT_FOUND`` (404)."""
    if key == magic_values.KEY_UNKNOWN:
        raise Refusal(Code.KEY_NOT_FOUND, "no such key", status=404)
    bank = books.identity
    held = books.database.record(Owner, _HELD, (bank.ispb, bank.compe, bank.name, key))
    return held or Owner(
        key=key,
        type=_guess(key),
        name="Cliente de Outro Banco",
        tax_number="***.000.001-**" if key == magic_values.KEY_OF_ANOTHER else "***.982.247-**",
        ispb="88888888",
        bank="888",
        bank_name="Outro Banco S.A.",
        branch="0001",
        account="1234567-8",
    )


def _customer(books: Books, to: Destination) -> Account | None:
    if to.key is not None:
        held = active(books, to.key)
        return accounts.get(books, held.account_id) if held else None
    if to.bank not in (books.identity.compe, books.identity.ispb):
        return None
    found = accounts.by_coordinates(books, to.branch or "", to.account or "")
    if found is None:
        raise Refusal(Code.ACCOUNT_INVALID, "this bank has no such account")
    return found


def _guess(key: str) -> str:
    """Guess the type of another bank's key from its form."""
    if "@" in key:
        return "email"
    if key.startswith("+"):
        return "phone"
    return {11: "cpf", 14: "cnpj"}.get(len(key), "evp")
