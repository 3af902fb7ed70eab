"""Where customers have their callbacks sent, and the callbacks that could not be delivered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from provider_adapters.sandbox.bank.kernel.refusals import invalid, not_found

if TYPE_CHECKING:
    from provider_adapters.sandbox.bank.kernel.books import Books
    from provider_adapters.sandbox.bank.kernel.database import Row

_MOST: Final = 10
"""Addresses of one account; real banks allow as many, or fewer."""

_KEPT: Final = 1000
"""Missed events of one account; the oldest go."""

_HERE: Final = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An address of a customer's; ``secret`` signs what is sent there."""

    id: str
    url: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Missed:
    """A callback that nobody took; ``document`` is its body."""

    id: str
    document: dict[str, str]


def document_of(row: Row) -> dict[str, str]:
    """Return the body of a callback: what it is about, and of which account."""
    name = "referencia" if row["kind"] == "cobranca" else "chave"
    return {"tipo": row["kind"], "conta": row["account_id"], name: row["subject"]}


def add(books: Books, account_id: str, url: str, secret: str) -> Listener:
    """
    Register an address; the same one again gets the new secret.

    Raises:
        Refusal: ``INVALID_REQUEST`` for an address on another machine, a secret that
            is no hexadecimal digits, and one address too many.
    """
    if not _is_here(url):
        message = "url: must be http on this machine"
        raise invalid(message)
    key = _bytes(secret)
    known = {each.url: each for each in of(books, account_id)}
    if url not in known and len(known) >= _MOST:
        message = f"an account has {_MOST} addresses at most"
        raise invalid(message)
    listener_id = known[url].id if url in known else books.identifier("av")
    books.database.run(
        "INSERT INTO listeners (id, account_id, url, secret) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (account_id, url) DO UPDATE SET secret = excluded.secret",
        (listener_id, account_id, url, key.hex()),
    )
    return Listener(id=listener_id, url=url, secret=key)


def of(books: Books, account_id: str) -> list[Listener]:
    """Return the addresses of an account, oldest first."""
    sql = "SELECT id, url, secret FROM listeners WHERE account_id = ? ORDER BY seq"
    return [_listener(row) for row in books.database.all(sql, (account_id,))]


def remove(books: Books, account_id: str, listener_id: str) -> Listener:
    """Forget an address; raises ``NOT_FOUND``."""
    for each in of(books, account_id):
        if each.id == listener_id:
            books.database.run("DELETE FROM listeners WHERE id = ?", (listener_id,))
            return each
    what = "address"
    raise not_found(what)


def note_missed(books: Books, row: Row) -> None:
    """Keep a callback that nobody took, for its customer to ask for."""
    books.database.run(
        "INSERT OR IGNORE INTO missed (id, kind, account_id, subject) VALUES (?, ?, ?, ?)",
        (row["id"], row["kind"], row["account_id"], row["subject"]),
    )
    books.database.run(
        "DELETE FROM missed WHERE account_id = ? AND seq NOT IN"
        " (SELECT seq FROM missed WHERE account_id = ? ORDER BY seq DESC LIMIT ?)",
        (row["account_id"], row["account_id"], _KEPT),
    )


def missed(books: Books, account_id: str, most: int) -> list[Missed]:
    """Return what nobody took, oldest first."""
    sql = "SELECT * FROM missed WHERE account_id = ? ORDER BY seq LIMIT ?"
    return [
        Missed(row["id"], document_of(row)) for row in books.database.all(sql, (account_id, most))
    ]


def acknowledge(books: Books, account_id: str, events: Sequence[str]) -> None:
    """Forget missed events; those of others, and unknown ones, are left alone."""
    books.database.run(
        "DELETE FROM missed WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))",
        (account_id, json.dumps(list(events))),
    )


def _listener(row: Row) -> Listener:
    return Listener(id=row["id"], url=row["url"], secret=bytes.fromhex(row["secret"]))


def _is_here(url: str) -> bool:
    """Say whether it is http on this machine: the bank asks nobody who they are."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname in _HERE and parts.port != 0
    except ValueError:
        return False


def _bytes(secret: str) -> bytes:
    try:
        return bytes.fromhex(secret)
    except ValueError:
        message = "segredo: must be hexadecimal digits"
        raise invalid(message) from None
