"""Callbacks: the addresses of customers, delivery with retries, and missed events."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import aiohttp

from provider_adapters.testing.bank.books import Books, Table
from provider_adapters.testing.bank.messages import require

_MOST: Final = 10
"""Addresses of one account; real banks allow as many, or fewer."""

_HERE: Final = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])(:[1-9][0-9]*)?(/.*)?")
"""The bank asks nobody who they are, so it calls this machine alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An address of a customer's; ``secret`` signs the callbacks sent there."""

    id: str
    url: str
    secret: str = field(repr=False)
    seq: int = 0


class EventKind(StrEnum):
    """Kinds of events: ``CHARGE`` is a payment of a charge, ``PAYMENT`` one without."""

    PAYOUT = "transferencia"
    RETURN = "transferencia_devolvida"
    CHARGE = "cobranca"
    PAYMENT = "recebimento"
    REFUND = "devolucao"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """
    An event that is reported to customers.

    Attributes:
        subject: A payment's end-to-end id; the bank's id of a payout or refund.
    """

    id: str
    kind: EventKind
    account_id: str
    subject: str


_TABLE = Table(Listener, "SELECT * FROM listeners", "listeners", "seq", "address")
listeners = _TABLE.all
"""Return the addresses of an account, oldest first."""
_get = _TABLE.by("id")


def register(books: Books, account_id: str, url: str, secret: str, most: int = _MOST) -> Listener:
    """
    Register an address, ``most`` at most; the same one again gets the new secret.

    Raises:
        Refusal: ``INVALID_REQUEST`` for an address on another machine, and for one
            address too many.
    """
    require(_HERE.fullmatch(url), "url: must be http on this machine")
    known = listeners(books, account_id)
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
    """Return undelivered events that are not sent any more, oldest first."""
    sql = "SELECT * FROM notices WHERE account_id = ? AND due_at IS NULL ORDER BY seq LIMIT ?"
    return books.database.records(Event, sql, (account_id, most))


def acknowledge(books: Books, account_id: str, events: Sequence[str]) -> None:
    """Forget missed events; other customers' and unknown ones are left alone."""
    books.database.run(
        "DELETE FROM notices WHERE account_id = ? AND due_at IS NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (account_id, json.dumps(list(events))),
    )


_LOG = logging.getLogger(__name__)

# Soon enough for a test that waits, cheap enough for an idle bank.
_EVERY_S: Final = 0.2
_DEADLINE: Final = aiohttp.ClientTimeout(total=5)
# The pauses are 1, 2, 4, 8 and 16 seconds: half a minute in all.
_MOST_TRIES: Final = 6
_SECOND: Final = 1_000_000
_ACCEPTED: Final = range(200, 300)
_DUE = "SELECT * FROM notices WHERE due_at <= ? ORDER BY seq LIMIT 50"
_DELETE = "DELETE FROM notices WHERE seq = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A callback ready to be sent by POST."""

    url: str
    body: bytes
    headers: Mapping[str, str]


WriteCallback = Callable[[Books, Event, Listener], Callback | None]
"""Writes a callback; None for an event that the bank does not report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Notice(Event):
    """An event to be sent so many times; ``due_at`` is NULL once it is missed."""

    seq: int
    copies: int
    tries: int


@dataclass(frozen=True, slots=True)
class CallbackListener:
    """
    Who receives the callbacks of all accounts, beside the addresses they have registered.

    Attributes:
        url: Called for each callback; returns an empty text while there is no listener yet.
        secret: As if an account had registered it.
    """

    url: Callable[[], str]
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Delivers callbacks in a dialect's form; ``listener`` is None without another listener."""

    books: Books
    write: WriteCallback
    listener: CallbackListener | None = None

    async def send_until_cancelled(self) -> None:
        """Send due callbacks, over and over, until the task is cancelled."""
        async with aiohttp.ClientSession(timeout=_DEADLINE, trust_env=False) as session:
            while True:
                try:
                    await self.send_due(session)
                except Exception:  # noqa: BLE001 - a background loop: the next round tries again
                    _LOG.exception("sending callbacks failed")
                await asyncio.sleep(_EVERY_S)

    async def send_due(self, session: aiohttp.ClientSession) -> int:
        """
        Send each callback that is due once, oldest first; return how many were accepted.

        It goes to the gateway that the bank was started with, and to every address that its
        account has registered. An event without a receiver is deleted.
        """
        if self.listener is not None and not self.listener.url():
            return 0
        accepted, now = 0, self.books.clock.micros()
        for notice in self.books.database.records(_Notice, _DUE, (now,)):
            answers = await self._send_one(session, notice)
            accepted += bool(answers) and all(answers)
            if all(answers):
                self.books.database.run(_DELETE, (notice.seq,))
                continue
            tries = notice.tries + 1
            due = self.books.clock.micros() + 2**notice.tries * _SECOND
            later = due if tries < _MOST_TRIES else None
            self.books.database.update("notices", notice.seq, tries=tries, due_at=later)
        return accepted

    async def _send_one(self, session: aiohttp.ClientSession, notice: _Notice) -> list[bool]:
        """Send one event to every listener; return the answers."""
        written = [self.write(self.books, notice, to) for to in self._recipients(notice)]
        return [
            await _send(session, callback)
            for callback in written
            if callback is not None
            for _ in range(notice.copies)
        ]

    def _recipients(self, event: Event) -> list[Listener]:
        """Return who gets an event; at one address once, signed as was registered last."""
        found, everybody = listeners(self.books, event.account_id), self.listener
        if everybody is not None and everybody.url() not in {each.url for each in found}:
            found.insert(0, Listener(id="", url=everybody.url(), secret=everybody.secret))
        return found


async def _send(session: aiohttp.ClientSession, callback: Callback) -> bool:
    """Send one callback; return whether it was accepted."""
    headers = {"Content-Type": "application/json", **callback.headers}
    try:
        async with session.post(callback.url, data=callback.body, headers=headers) as answer:
            return answer.status in _ACCEPTED
    except (aiohttp.ClientError, TimeoutError):
        return False
