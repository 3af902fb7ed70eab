"""Connections opened ahead for payouts, where the operator asks for that: young, silent, few."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from gateway.domain.bank.providers import ProviderError
from gateway.net.client.connection import Line
from gateway.net.client.pool import Pool

OLDEST_S: Final = 2.0
"""
How old one gets, in seconds, at most.

A bank may close an idle connection at any moment. If that happens while a payout is
written, nobody knows whether it arrived; so what waits here must not wait for long.
"""


class Spares:
    """
    Open connections for payouts to come, each for one.

    They are opened when a payout goes out and end after two seconds, or sooner where the
    bank keeps an idle connection for less: so there are some only while payouts flow.

    Args:
        most: How many wait at once; 0 opens none.
        connect: Opens one; raises ``ProviderError``.
    """

    def __init__(self, pool: Pool, most: int, connect: Callable[[], Awaitable[Line]]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pool = pool
        self._most = most
        self._connect = connect
        self._ready: dict[Line, asyncio.TimerHandle] = {}
        self._opening: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Count those that wait for a payout."""
        return len(self._ready)

    def take(self) -> Line | None:
        """
        Return the youngest that is open and silent, to be written to in this very step.

        Those found closed, or with bytes that nobody asked for, are closed.
        """
        while self._ready:
            line, timer = self._ready.popitem()
            timer.cancel()
            if line.idle_until > self._loop.time() and line.is_quiet():
                self._pool.adopt(line)
                return line
            self._pool.end(line)
        return None

    def refill(self) -> None:
        """Open what is missing, beside the calls; called whenever a payout goes out."""
        missing = self._most - len(self._ready) - len(self._opening)
        if self._pool.idle_bound(OLDEST_S) <= 0:
            return
        for _ in range(missing):
            task = self._loop.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    def drop(self) -> None:
        """Close all that wait."""
        for line in list(self._ready):
            self._end(line)

    async def close(self) -> None:
        """Close all, and those that are being opened."""
        opening = list(self._opening)
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        self.drop()

    async def _open(self) -> None:
        """Open one; what keeps it from being opened, the payout that needs it will tell."""
        try:
            line = await self._connect()
        except ProviderError:
            return
        if not self._pool.is_current(line):
            self._pool.end(line)
            return
        age = self._pool.idle_bound(OLDEST_S)
        line.idle_until = self._loop.time() + age
        self._ready[line] = self._loop.call_later(age, self._end, line)

    def _end(self, line: Line) -> None:
        """Close one that waits."""
        timer = self._ready.pop(line, None)
        if timer is not None:
            timer.cancel()
        self._pool.end(line)
