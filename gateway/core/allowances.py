"""Allowances: a person's limits within an hour or so, in numbers of acts or of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from gateway.core import errors
from gateway.core.clocks import Monotonic
from gateway.core.errors import ServiceError
from gateway.core.limits import (
    LONGEST_DEBT_S,
    Buckets,
    CallRate,
    SharedBuckets,
    SharedLimits,
    take_in_time,
)

_ALONE: Final = 1


def refuse_for(wait_s: float, reason: str) -> None:
    """
    Refuse for as long as ``Allowance.take`` returned; 0 refuses nothing.

    Raises:
        ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``.
    """
    if wait_s > 0:
        headers = {"Retry-After": str(math.ceil(wait_s))}
        raise ServiceError(errors.TOO_MANY_REQUESTS, reason, headers)


class Allowance:
    """
    Token buckets by person that services draw from, several tokens at once.

    Where ``shared`` counts, the buckets are common to all processes; while it does not answer, each
    process goes by its share (decision 67). Unlike quotas of requests these are asked for each
    draw: the acts are few, and one that passes unseen takes hundreds of rows.
    """

    def __init__(
        self,
        name: str,
        rate: CallRate,
        clock: Monotonic,
        count: Callable[[str], None],
        shared: SharedLimits | None = None,
    ) -> None:
        """Begin with full buckets; ``count`` is given ``name.allowed`` or ``name.limited``."""
        self._name = name
        self._count = count
        self._shared = shared
        self._buckets = SharedBuckets(name, Buckets(rate, clock), self._serving)

    def change(self, rate: CallRate) -> None:
        """Draw from buckets of another rate from now on."""
        self._buckets.change(rate)

    @property
    def burst(self) -> int:
        """The tokens of a full bucket."""
        return self._buckets.rate.burst

    async def take(self, key: str, tokens: int = 1) -> float:
        """
        Take tokens of ``key``: all or none.

        Returns:
            0 where they were taken, else the seconds until there are as many.
        """
        wait_s = await self._take_for_all(key, tokens)
        if wait_s is None:
            wait_s = self._buckets.take(key, tokens)
        result = "limited" if wait_s else "allowed"
        self._count(f"{self._name}.{result}")
        return wait_s

    async def _take_for_all(self, key: str, tokens: int) -> float | None:
        """Take tokens of the common bucket; None without an answer in time."""
        if self._shared is None:
            return None
        draws = [(self._buckets, key)]
        answer = await take_in_time(self._shared, draws, tokens, lambda _: LONGEST_DEBT_S)
        if answer is None:
            return None
        (ask,), ((grant,), _) = answer
        if grant.took == tokens:
            return 0.0
        if grant.took:
            self._shared.give_back([ask._replace(want=0, back=grant.took)])
        missing = tokens - grant.took
        # never 0, which would say that they were taken
        return max(grant.full_s + missing * ask.step_s - ask.room_s, ask.step_s / 1000)

    def _serving(self) -> int:
        return _ALONE if self._shared is None else self._shared.serving
