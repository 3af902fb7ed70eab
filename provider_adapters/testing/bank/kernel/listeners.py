"""Where customers have their callbacks sent, and the callbacks that could not be delivered."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from provider_adapters.testing.bank.kernel.paging import Table
from provider_adapters.testing.bank.kernel.refusals import require

if TYPE_CHECKING:
    from provider_adapters.testing.bank.kernel.books import Books

_MOST: Final = 10
"""Addresses of one account; real banks allow as many, or fewer."""

_HERE: Final = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])(:[1-9][0-9]*)?(/.*)?")
"""The bank asks nobody who they are, so it calls this machine alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An address of a customer's; ``secret`` signs what is sent there."""

    id: str
    url: str
    secret: str = field(repr=False)
    seq: int = 0


class EventKind(StrEnum):
    """What an event is about: ``CHARGE`` is a payment of a charge, ``PAYMENT`` one without."""

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
        subject: A payment's end-to-end id; the bank's id of a payout or refund.
    """

    id: str
    kind: EventKind
    account_id: str
    subject: str


_TABLE = Table(Listener, "SELECT * FROM listeners", "listeners", "seq", "address")
of = _TABLE.all
"""Return the addresses of an account, oldest first."""
_get = _TABLE.by("id")


def add(books: Books, account_id: str, url: str, secret: str, most: int = _MOST) -> Listener:
    """
    Register an address, ``most`` at most; the same one again gets the new secret.

    Raises:
        Refusal: ``INVALID_REQUEST`` for an address on another machine, and for one
            address too many.
    """
    require(_HERE.fullmatch(url), "url: must be http on this machine")
    known = of(books, account_id)
    for each in known:
        if each.url == url:
            books.database.update("listeners", each.seq, secret=secret)
            return _get(books, account_id, each.id)
    require(len(known) < most, f"an account has {most} addresses at most")
    made = Listener(id=books.identifier("av"), url=url, secret=secret)
    books.database.insert("listeners", made, account_id=account_id)
    return _get(books, account_id, made.id)


def remove(books: Books, account_id: str, listener_id: str) -> Listener:
    """Forget an address; raises ``NOT_FOUND``."""
    gone = _get(books, account_id, listener_id)
    books.database.run("DELETE FROM listeners WHERE seq = ?", (gone.seq,))
    return gone


def missed(books: Books, account_id: str, most: int) -> list[Event]:
    """Return what nobody took and is not sent any more, oldest first."""
    sql = "SELECT * FROM notices WHERE account_id = ? AND due_at IS NULL ORDER BY seq LIMIT ?"
    return books.database.records(Event, sql, (account_id, most))


def acknowledge(books: Books, account_id: str, events: Sequence[str]) -> None:
    """Forget missed events; those of others, and unknown ones, are left alone."""
    books.database.run(
        "DELETE FROM notices WHERE account_id = ? AND due_at IS NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (account_id, json.dumps(list(events))),
    )
