"""
Callbacks of a simulated bank: written by its dialect, sent, repeated until they are accepted.

Triggers in the schema insert each one in the transaction that it is about.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import aiohttp

from provider_adapters.testing.bank.dialect import Callback, Dialect
from provider_adapters.testing.bank.kernel import listeners
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.listeners import Event, Listener

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
        url: Called for each callback; returns an empty text while nobody listens yet.
        secret: As if an account had registered it.
    """

    url: Callable[[], str]
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Delivery:
    """Delivers callbacks in a dialect's form; ``listener`` is None where there is nobody else."""

    books: Books
    dialect: Dialect
    listener: CallbackListener | None = None

    async def send_until_cancelled(self) -> None:
        """Send what is due, over and over, until the task is cancelled."""
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
        account has registered. One that nobody is to get is deleted.
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
        """Send one event to everybody who is to know; return what each answered."""
        written = [self.dialect.callback(self.books, notice, to) for to in self._recipients(notice)]
        return [
            await _send(session, callback)
            for callback in written
            if callback is not None
            for _ in range(notice.copies)
        ]

    def _recipients(self, event: Event) -> list[Listener]:
        """Return who gets an event; at one address once, signed as was registered last."""
        found, everybody = listeners.of(self.books, event.account_id), self.listener
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
