"""Limits counted together by several processes, in memory and by a clock that stands still."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import exp, floor

from gateway.core.limits import LATELY_S, Ask, Grant, Granted


@dataclass
class Counting:
    """
    ``SharedLimits`` for as many processes as have it.

    Attributes:
        clock: In seconds.
        away: Nobody answers, and callers know.
        is_lost: Nobody answers, and each call finds out anew.
        asked: Every ask that was answered.
    """

    clock: Callable[[], float]
    processes: int = 1
    serving: int = 1
    away: bool = False
    is_lost: bool = False
    asked: list[Ask] = field(default_factory=list)
    calls: int = 0
    pauses: dict[str, float] = field(default_factory=dict)
    full_at: dict[str, float] = field(default_factory=dict)
    drawn: dict[str, tuple[float, float]] = field(default_factory=dict)
    failed: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def request(
        self, asks: Sequence[Ask], done: Callable[[Granted | None], None], pause: str = ""
    ) -> None:
        asyncio.get_running_loop().call_soon(self._answer, asks, done, pause)

    def _answer(
        self, asks: Sequence[Ask], done: Callable[[Granted | None], None], pause: str
    ) -> None:
        if self.away or self.is_lost:
            return done(None)
        self.calls += 1
        left_s = self.pauses.get(pause, 0.0) - self.clock()
        return done(Granted([self._take(each) for each in asks], max(0.0, left_s)))

    def give_back(self, asks: Sequence[Ask]) -> None:
        if not self.away:
            for each in asks:
                self._take(each)

    def pause(self, name: str, seconds: float) -> None:
        if not self.away:
            self.pauses[name] = self.clock() + seconds

    async def count_failure(
        self, keys: Sequence[str], window_s: float, limits: Sequence[Sequence[int]]
    ) -> Sequence[Sequence[float]] | None:
        if self.away:
            return None
        self.calls += 1
        now = self.clock()
        waits = []
        for key, most in zip(keys, limits, strict=True):
            times = self.failed[key]
            times.append(now)
            over = [times[-each - 1] if len(times) > each else now - window_s for each in most]
            waits.append([max(0.0, at + window_s - now) for at in over])
        return waits

    async def close(self) -> None: ...

    def _take(self, ask: Ask) -> Grant:
        self.asked.append(ask)
        now = self.clock()
        before = max(now, self.full_at.get(ask.key, now))
        full = max(now, before - ask.back * ask.step_s)
        full = min(full, max(before, now + ask.room_s + ask.debt_s))
        took = max(0, min(ask.want, floor((now + ask.room_s - full) / ask.step_s + 0.001)))
        self.full_at[ask.key] = full + took * ask.step_s
        drawn, at = self.drawn.get(ask.key, (0.0, now))
        drawn = max(0.0, drawn * exp((at - now) / LATELY_S) + took - ask.back)
        self.drawn[ask.key] = drawn, now
        return Grant(took, self.full_at[ask.key] - now, drawn)


@dataclass
class Late(Counting):
    """Answers when a test says so: its callers have gone by then."""

    kept: list[Callable[[], None]] = field(default_factory=list)

    def request(
        self, asks: Sequence[Ask], done: Callable[[Granted | None], None], pause: str = ""
    ) -> None:
        self.kept.append(partial(self._answer, asks, done, pause))

    def answer(self) -> None:
        kept, self.kept = self.kept, []
        for each in kept:
            each()
