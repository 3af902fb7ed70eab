"""
How fast a bank is asked about payouts: the bank's places and calls a second are for partners.

Following up takes a quarter of the places and a tenth of the rates that the bank declares. So
partners hardly notice it, and a bank that hangs holds up its own payouts alone.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from gateway.core.clocks import Monotonic

_PART_OF_PLACES: Final = 4
_PART_OF_RATE: Final = 10
# Claims last a minute. What waits for its turn behind a slow rate must be looked at before that.
_WAITS_S: Final = 20.0
# A place is taken for two waves of looks, of which each lasts 16 s at worst: half of a claim.
_WAVES: Final = 2
# One number for each account; above this bound the oldest go, and may be asked about at once.
_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """
    How fast one bank is asked.

    Attributes:
        at_once: Calls under way.
        of_account: Of these, for one account; 0 for as many.
        per_s: Calls a second for one account; 0 for as many as there are places.
    """

    at_once: int
    of_account: int = 0
    per_s: float = 0.0

    @property
    def room(self) -> int:
        """Payouts of the bank that are claimed at once, at most."""
        return self.at_once * _WAVES

    @property
    def account_room(self) -> int:
        """Of these, payouts of one account."""
        if not self.per_s:
            return self.room
        return max(1, min(self.room, int(self.per_s * _WAITS_S)))


SLOWEST: Final = Pace(at_once=2)
"""Of a bank of which nothing is known, such as one that is not configured any more."""


def share_of(in_flight: int, of_account: int, rates: Sequence[float]) -> Pace:
    """
    Return the share of following up in what a bank allows.

    Args:
        in_flight: Calls at once of this process.
        of_account: Of these, for one account; 0 where there is no bound.
        rates: Calls a second for each account, of every kind that a look makes.
    """
    return Pace(
        at_once=max(1, in_flight // _PART_OF_PLACES),
        of_account=max(1, of_account // _PART_OF_PLACES) if of_account else 0,
        per_s=min(rates, default=0.0) / _PART_OF_RATE,
    )


class BankPlaces:
    """The places of one bank, and when each of its accounts may be asked about next."""

    def __init__(
        self,
        pace: Pace,
        clock: Monotonic = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Begin with all places free."""
        self.pace = pace
        self._places = asyncio.Semaphore(pace.at_once)
        self._clock, self._sleep = clock, sleep
        self._next_at: OrderedDict[str, float] = OrderedDict()
        self._of_account: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(self, account_id: str) -> AsyncIterator[None]:
        """Wait for the account's turn, then for a place; have it for the length of the block."""
        await self.turn(account_id)
        if not self.pace.of_account:
            async with self._places:
                yield
            return
        own = self._of_account.setdefault(account_id, asyncio.Semaphore(self.pace.of_account))
        async with own, self._places:
            yield
        if len(self._of_account) > _KEPT:
            self._of_account = {
                name: places for name, places in self._of_account.items() if places.locked()
            }

    async def turn(self, account_id: str) -> None:
        """Wait until the account may be asked about; at once where the bank declares no rate."""
        if not self.pace.per_s:
            return
        now = self._clock()
        at = max(self._next_at.pop(account_id, now), now)
        self._next_at[account_id] = at + 1 / self.pace.per_s
        if len(self._next_at) > _KEPT:
            self._next_at.popitem(last=False)
        if at > now:
            await self._sleep(at - now)
