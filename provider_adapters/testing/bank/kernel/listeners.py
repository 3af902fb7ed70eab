"""Where customers have their callbacks sent, and the callbacks that could not be delivered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from provider_adapters.testing.bank.kernel.refusals import found, require

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books
    from provider_adapters.testing.bank.kernel.database import Row

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
    secret: str = field(repr=False)


class EventKind(StrEnum):
    """
    What an event is about: ``CHARGE`` is a payment of a charge, ``PAYMENT`` one without.

    The values are as stored; older files have them too.
    """

    PAYOUT = "transferencia"
    RETURN = "transferencia_devolvida"
    CHARGE = "cobranca"
    PAYMENT = "recebimento"
    REFUND = "devolucao"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    Something that customers are told of.

    Attributes:
        subject: A payment's end-to-end id; the bank's id of a payout or refund. What older
            files still have to send: the charge's reference, the idempotency key.
    """

    id: str
    kind: EventKind
    account_id: str
    subject: str


def event_of(row: Row) -> Event:
    """Read a stored event."""
    return msgspec.convert(row, Event)


def add(books: Books, account_id: str, url: str, secret: str, most: int = _MOST) -> Listener:
    """
    Register an address, ``most`` at most; the same one again gets the new secret.

    Raises:
        Refusal: ``INVALID_REQUEST`` for an address on another machine, and for one
            address too many.
    """
    require(_is_here(url), "url: must be http on this machine")
    known = {each.url: each for each in of(books, account_id)}
    require(url in known or len(known) < most, f"an account has {most} addresses at most")
    listener_id = known[url].id if url in known else books.identifier("av")
    books.database.run(
        "INSERT INTO listeners (id, account_id, url, secret) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (account_id, url) DO UPDATE SET secret = excluded.secret",
        (listener_id, account_id, url, secret),
    )
    return Listener(id=listener_id, url=url, secret=secret)


def of(books: Books, account_id: str) -> list[Listener]:
    """Return the addresses of an account, oldest first."""
    sql = "SELECT * FROM listeners WHERE account_id = ? ORDER BY seq"
    return books.database.records(Listener, sql, (account_id,))


def remove(books: Books, account_id: str, listener_id: str) -> Listener:
    """Forget an address; raises ``NOT_FOUND``."""
    known = {each.id: each for each in of(books, account_id)}
    gone = found(known.get(listener_id), "address")
    books.database.run("DELETE FROM listeners WHERE id = ?", (listener_id,))
    return gone


def note_missed(books: Books, event: Event) -> None:
    """Keep a callback that nobody took, for its customer to ask for."""
    books.database.run(
        "INSERT OR IGNORE INTO missed (id, kind, account_id, subject) VALUES (?, ?, ?, ?)",
        (event.id, event.kind, event.account_id, event.subject),
    )
    books.database.run(
        "DELETE FROM missed WHERE account_id = ? AND seq NOT IN"
        " (SELECT seq FROM missed WHERE account_id = ? ORDER BY seq DESC LIMIT ?)",
        (event.account_id, event.account_id, _KEPT),
    )


def missed(books: Books, account_id: str, most: int) -> list[Event]:
    """Return what nobody took, oldest first."""
    sql = "SELECT * FROM missed WHERE account_id = ? ORDER BY seq LIMIT ?"
    return books.database.records(Event, sql, (account_id, most))


def acknowledge(books: Books, account_id: str, events: Sequence[str]) -> None:
    """Forget missed events; those of others, and unknown ones, are left alone."""
    books.database.run(
        "DELETE FROM missed WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))",
        (account_id, json.dumps(list(events))),
    )


def _is_here(url: str) -> bool:
    """Say whether it is http on this machine: the bank asks nobody who they are."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname in _HERE and parts.port != 0
    except ValueError:
        return False
