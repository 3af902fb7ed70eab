"""
Callbacks of the bank: signed, sent, repeated until they are accepted.

Triggers in the schema insert each one in the transaction that it is about.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import aiohttp

from provider_adapters.sandbox.bank.kernel import listeners
from provider_adapters.sandbox.bank.kernel.books import Books
from provider_adapters.sandbox.bank.kernel.clock import from_micros
from provider_adapters.sandbox.bank.kernel.database import Row
from provider_adapters.sandbox.callbacks import sign

_LOG = logging.getLogger(__name__)

# Soon enough for a test that waits, cheap enough for an idle bank.
_EVERY_S: Final = 0.2
_DEADLINE: Final = aiohttp.ClientTimeout(total=5)
# The pauses are 1, 2, 4, 8 and 16 seconds: half a minute in all.
_MOST_TRIES: Final = 6
_SECOND: Final = 1_000_000
_ACCEPTED: Final = range(200, 300)
_DUE = "SELECT * FROM notices WHERE due_at <= ? ORDER BY seq LIMIT 50"
_REPEAT = "UPDATE notices SET tries = tries + 1, due_at = ? WHERE seq = ?"
_DELETE = "DELETE FROM notices WHERE seq = ?"

Sign = Callable[[str, datetime, bytes], dict[str, str]]
"""Returns the headers of a callback, given its event id, time and body."""


@dataclass(frozen=True, slots=True)
class _Recipient:
    """An address, and how what is sent there is signed."""

    url: str
    sign: Sign


@dataclass(frozen=True, slots=True)
class CallbackListener:
    """
    Who receives the callbacks.

    Attributes:
        url: Called for each callback; returns an empty text while nobody listens yet.
        sign: Signs a callback.
    """

    url: Callable[[], str]
    sign: Sign


async def send_until_cancelled(books: Books, listener: CallbackListener | None) -> None:
    """Send what is due, over and over, until the task is cancelled."""
    async with aiohttp.ClientSession(timeout=_DEADLINE, trust_env=False) as session:
        while True:
            try:
                await send_due(books, listener, session)
            except Exception:  # noqa: BLE001 - a background loop: the next round tries again
                _LOG.exception("sending callbacks failed")
            await asyncio.sleep(_EVERY_S)


async def send_due(
    books: Books, listener: CallbackListener | None, session: aiohttp.ClientSession
) -> int:
    """
    Send each callback that is due once, oldest first; return how many were accepted.

    It goes to the gateway that the bank was started with, and to every address that its
    account has registered. One that nobody is to get is deleted.
    """
    if listener is not None and not listener.url():
        return 0
    accepted = 0
    for row in books.database.all(_DUE, (books.clock.micros(),)):
        recipients = _recipients(books, listener, row)
        answers = [
            await _send(books, recipient, session, row)
            for recipient in recipients
            for _ in range(row["copies"])
        ]
        accepted += bool(answers) and all(answers)
        if all(answers):
            books.database.run(_DELETE, (row["seq"],))
        elif row["tries"] + 1 >= _MOST_TRIES:
            with books.database.transaction():
                listeners.note_missed(books, row)
                books.database.run(_DELETE, (row["seq"],))
        else:
            due = books.clock.micros() + 2 ** row["tries"] * _SECOND
            books.database.run(_REPEAT, (due, row["seq"]))
    return accepted


def _recipients(books: Books, listener: CallbackListener | None, row: Row) -> list[_Recipient]:
    """Return who gets a callback; at one address once, signed as was registered last."""
    found = {} if listener is None else {listener.url(): listener.sign}
    for each in listeners.of(books, row["account_id"]):
        found[each.url] = partial(sign, each.secret)
    return [_Recipient(url, signs) for url, signs in found.items()]


async def _send(books: Books, to: _Recipient, session: aiohttp.ClientSession, row: Row) -> bool:
    """Send one callback; return whether it was accepted."""
    body = json.dumps(listeners.document_of(row)).encode()
    headers = to.sign(row["id"], from_micros(books.clock.micros()), body)
    headers["Content-Type"] = "application/json"
    try:
        async with session.post(to.url, data=body, headers=headers) as answer:
            return answer.status in _ACCEPTED
    except (aiohttp.ClientError, TimeoutError):
        return False
