"""
Rate limit for status queries, so that partners keep most of the bank's capacity.

Status queries take a quarter of the concurrency and a tenth of the rates that the bank declares. So
partners hardly notice them, and a bank that hangs delays its own payouts alone.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from gateway.core.clocks import Monotonic
from gateway.core.limits import Buckets, CallRate

_PART_OF_PLACES: Final = 4
_PART_OF_RATE: Final = 10
_PART_OF_SHARE: Final = 2
_FEWEST: Final = 2
# Claims last a minute. What waits for its turn behind a slow rate must be looked at before that.
_WAITS_S: Final = 20.0
# A place is taken for two waves of looks, of which each lasts 16 s at worst: half of a claim.
_WAVES: Final = 2
# One object for each account; above this bound those without calls go.
_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowupRate:
    """
    Rate limit of status queries at one bank.

    Attributes:
        at_once: Maximum of concurrent calls.
        of_account: Maximum for one account; 0 for no separate maximum.
        per_s: Calls a second for one account; 0 for no rate.
    """

    at_once: int
    of_account: int = 0
    per_s: float = 0.0

    @property
    def room(self) -> int:
        """Maximum of the bank's payouts claimed at once."""
        return self.at_once * _WAVES

    @property
    def account_room(self) -> int:
        """Maximum of one account's payouts in a claim."""
        if not self.per_s:
            return self.room
        return max(1, min(self.room, int(self.per_s * _WAITS_S)))


SLOWEST: Final = FollowupRate(at_once=2)
"""Of a bank of which nothing is known, such as one that is not configured any more."""


def followup_share(in_flight: int, of_account: int, rates: Sequence[float]) -> FollowupRate:
    """
    Return the follow-up's share of a bank's limits.

    Args:
        in_flight: Concurrent calls of this process.
        of_account: Concurrent calls for one account; 0 without a bound.
        rates: Calls a second for each account, for every call of a status query.
    """
    return FollowupRate(
        at_once=max(1, in_flight // _PART_OF_PLACES),
        of_account=max(1, of_account // _PART_OF_PLACES) if of_account else 0,
        per_s=min(rates, default=0.0) / _PART_OF_RATE,
    )


def background_share(rate: FollowupRate) -> FollowupRate:
    """
    Return the share of a task that reads movements: half of the follow-up's.

    It has two places at least: a bank that hangs for one account leaves one for the others.
    """
    at_once = max(_FEWEST, rate.at_once // _PART_OF_SHARE)
    return FollowupRate(at_once=at_once, per_s=rate.per_s / _PART_OF_SHARE)


class FollowupSlots:
    """The concurrency slots of one bank, and the next query time of each of its accounts."""

    def __init__(
        self,
        rate: FollowupRate,
        clock: Monotonic = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.rate = rate
        self._places = asyncio.Semaphore(rate.at_once)
        self._sleep = sleep
        calls = CallRate(rate=rate.per_s, burst=1) if rate.per_s else None
        self._buckets = None if calls is None else Buckets(calls, clock, longest_debt_s=math.inf)
        self._of_account: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(self, account_id: str) -> AsyncIterator[None]:
        """Wait for the account's turn and for a slot; hold the slot for the block."""
        await self.turn(account_id)
        if not self.rate.of_account:
            async with self._places:
                yield
            return
        own = self._of_account.setdefault(account_id, asyncio.Semaphore(self.rate.of_account))
        async with own, self._places:
            yield
        if len(self._of_account) > _KEPT:
            self._of_account = {
                name: places for name, places in self._of_account.items() if places.locked()
            }

    async def turn(self, account_id: str) -> None:
        """Wait until the account may be queried; at once where the bank declares no rate."""
        if self._buckets is not None:
            wait_s = self._buckets.charge(account_id)
            if wait_s:
                await self._sleep(wait_s)


@dataclass(slots=True)
class Shares:
    """The background share of each bank, by its provider's name; each user has its own."""

    rate: Callable[[str], FollowupRate]
    _slots: dict[str, FollowupSlots] = field(default_factory=dict)

    def of(self, provider: str) -> FollowupSlots:
        """Return the places of a bank."""
        slots = self._slots.get(provider)
        if slots is None:
            share = background_share(self.rate(provider))
            slots = self._slots[provider] = FollowupSlots(share)
        return slots
