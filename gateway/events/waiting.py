"""
Calls that wait for events: all of a process share one look at the store.

A look asks for the feeds of all that wait, so its cost depends on the feeds and not on the calls.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from gateway.core import errors
from gateway.core.clocks import Monotonic
from gateway.core.errors import ServiceError
from gateway.core.waiting import unmeasured_wait
from gateway.events.store import EventRecords

EVERY_S: Final = 0.5
"""Between two looks: with a bank's callback and its status query, an event is read in a second."""
MOST: Final = 4
"""Waiting calls of a credential in one process: some accounts, or two servers of each."""


@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """A call that waits: behind a position of a feed, for ``woken``."""

    account_id: str
    position: int
    woken: asyncio.Future[bool]


class Waits:
    """The calls of this process that wait for events."""

    def __init__(self, records: EventRecords, clock: Monotonic, most: int = MOST) -> None:
        self._records, self._clock, self._most = records, clock, most
        self._ends: defaultdict[str, list[float]] = defaultdict(list)
        self._calls: set[_Call] = set()
        self._is_over = False

    @contextmanager
    def place(self, client_id: str, wait_s: float) -> Iterator[float]:
        """
        Take one of the places of a credential; give the instant at which the wait ends.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429), with ``Retry-After``: all are taken.
        """
        ends, now = self._ends[client_id], self._clock()
        if len(ends) >= self._most:
            retry_s = max(1, math.ceil(min(ends) - now))
            headers = {"Retry-After": str(retry_s)}
            raise ServiceError(errors.TOO_MANY_REQUESTS, "waiting_calls", headers)
        end = now + wait_s
        ends.append(end)
        try:
            yield end
        finally:
            ends.remove(end)
            if not ends:
                del self._ends[client_id]

    async def news(self, account_id: str, position: int, until: float) -> bool:
        """
        Wait for events of a feed behind a position; return whether there may be some.

        False at an instant of the clock, and at once when the process stops.
        """
        left_s = until - self._clock()
        if self._is_over or left_s <= 0:
            return False
        call = _Call(account_id, position, asyncio.get_running_loop().create_future())
        self._calls.add(call)
        try:
            with unmeasured_wait.get()():
                async with asyncio.timeout(left_s):
                    return await call.woken
        except TimeoutError:
            return False
        finally:
            self._calls.discard(call)

    async def turn(self) -> None:
        """
        Wake the calls whose feed goes on behind their position.

        Raises:
            StoreUnavailable: nobody was woken; the next turn looks again.
        """
        waiting = list(self._calls)
        if not waiting:
            return
        ends = await self._records.ends({each.account_id for each in waiting})
        for each in waiting:
            if each.position < ends.get(each.account_id, 0):
                _wake(each, has_news=True)

    def end(self) -> None:
        """End all waits, and let no further call wait: the process stops."""
        self._is_over = True
        for each in self._calls:
            _wake(each, has_news=False)


def _wake(call: _Call, *, has_news: bool) -> None:
    if not call.woken.done():
        call.woken.set_result(has_news)
