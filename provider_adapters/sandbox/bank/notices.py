"""
Callbacks of the bank: signed, sent to one address, repeated until they are taken.

The tables' own triggers write them down, in the transaction that they tell of.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import aiohttp

from provider_adapters.sandbox.bank.books import Books
from provider_adapters.sandbox.bank.clock import from_micros
from provider_adapters.sandbox.bank.database import Row

_LOG = logging.getLogger(__name__)

_EVERY_S: Final = 0.2
_DEADLINE: Final = aiohttp.ClientTimeout(total=5)
_MOST_TRIES: Final = 6
_SECOND: Final = 1_000_000
_ANSWERED: Final = range(200, 300)
_DUE = "SELECT * FROM notices WHERE due_at <= ? ORDER BY seq LIMIT 50"
_AGAIN = "UPDATE notices SET tries = tries + 1, due_at = ? WHERE seq = ?"
_GONE = "DELETE FROM notices WHERE seq = ?"

Sign = Callable[[str, datetime, bytes], dict[str, str]]
"""Return the headers of a callback: of its event, instant and body."""


@dataclass(frozen=True, slots=True)
class Listener:
    """
    Who is told.

    Attributes:
        url: Asked for each time; empty while nobody listens yet.
    """

    url: Callable[[], str]
    sign: Sign


async def tell_for_ever(books: Books, listener: Listener) -> None:
    """Tell of everything that has happened, and of what happens, until cancelled."""
    async with aiohttp.ClientSession(timeout=_DEADLINE, trust_env=False) as session:
        while True:
            try:
                await tell(books, listener, session)
            except Exception:  # noqa: BLE001 - a background loop: the next turn tries again
                _LOG.exception("telling failed")
            await asyncio.sleep(_EVERY_S)


def forget(books: Books) -> None:
    """Forget what there is to tell: nobody listens."""
    books.database.run("DELETE FROM notices")


async def tell(books: Books, listener: Listener, session: aiohttp.ClientSession) -> int:
    """Tell what is due, once each, oldest first; return how much of it was taken."""
    url = listener.url()
    if not url:
        return 0
    taken = 0
    for row in books.database.all(_DUE, (books.clock.micros(),)):
        told = [await _send(books, listener, session, row) for _ in range(row["copies"])]
        if all(told):
            taken += 1
        if all(told) or row["tries"] + 1 >= _MOST_TRIES:
            books.database.run(_GONE, (row["seq"],))
        else:
            due = books.clock.micros() + 2 ** row["tries"] * _SECOND
            books.database.run(_AGAIN, (due, row["seq"]))
    return taken


async def _send(books: Books, listener: Listener, session: aiohttp.ClientSession, row: Row) -> bool:
    """Send one; say whether it was taken."""
    name = "referencia" if row["kind"] == "cobranca" else "chave"
    said = {"tipo": row["kind"], "conta": row["account_id"], name: row["subject"]}
    body = json.dumps(said).encode()
    headers = listener.sign(row["id"], from_micros(books.clock.micros()), body)
    headers["Content-Type"] = "application/json"
    try:
        async with session.post(listener.url(), data=body, headers=headers) as answer:
            return answer.status in _ANSWERED
    except (aiohttp.ClientError, TimeoutError):
        return False
