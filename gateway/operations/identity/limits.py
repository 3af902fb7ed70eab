"""One rule of throttling: so many failures within a window, then a block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway.domain.identity import Failures

REMEMBERED = timedelta(days=1)
"""How long a block makes the next one longer."""

_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """
    So many failures within a window, then a block.

    Attributes:
        most: The one that fills the window.
        block: How long then, by how often it was full before; None: until the
            window is over.
    """

    most: int
    window: timedelta
    block: Callable[[int], timedelta] | None = None

    def next(self, before: Failures | None, key: str, now: datetime) -> Failures:
        """Return what follows when one more try is made; a block that holds stays as it is."""
        if before is None:
            before = Failures(key=key, count=0, since=now)
        if blocked_for(before, now):
            return before
        if before.blocked_until is not None or now >= before.since + self.window:
            blocks = before.blocks if now < before.since + REMEMBERED else 0
            before = Failures(key=key, count=0, since=now, blocks=blocks)
        count = before.count + 1
        if count < self.most:
            return replace(before, count=count)
        until = before.since + self.window
        if self.block is not None:
            until = now + self.block(before.blocks)
        return replace(before, count=count, blocked_until=until, blocks=before.blocks + 1)


def taken_back(before: Failures | None, key: str, now: datetime) -> Failures:
    """Return what follows when a counted try turns out to have been no failure."""
    if before is None:
        return Failures(key=key, count=0, since=now)
    return replace(
        before,
        count=max(0, before.count - 1),
        blocked_until=None,
        blocks=max(0, before.blocks - (before.blocked_until is not None)),
    )


def blocked_for(failures: Failures, now: datetime) -> timedelta:
    """Return how long it is blocked still; zero when it is not."""
    if failures.blocked_until is None:
        return timedelta(0)
    return max(timedelta(0), failures.blocked_until - now)


def doubling(shortest: timedelta, longest: timedelta) -> Callable[[int], timedelta]:
    """Make each block twice as long as the one before, up to ``longest``."""
    return lambda blocks: min(shortest * 2 ** min(blocks, _MOST_DOUBLINGS), longest)
