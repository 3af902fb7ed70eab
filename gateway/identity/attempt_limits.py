"""Limits on failed attempts, and the port that counts them for all processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

REMEMBERED = timedelta(days=1)
"""For this long after a block, the next block is longer."""
# 2**16 times the shortest block exceeds every longest block; more would overflow a timedelta
_MOST_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLimit:
    """
    So many failures within a window, then a block.

    Attributes:
        most: The number of the failure that starts the block.
        block: Its length, given how many blocks came before; None: until the
            window is over.
    """

    most: int
    window: timedelta
    block: Callable[[int], timedelta] | None = None

    def next(self, before: Failures | None, key: str, now: datetime) -> Failures:
        """Return the count after one more try; a block in force stays unchanged."""
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


def undo_attempt(before: Failures | None, key: str, now: datetime) -> Failures:
    """Return the count after a try that was counted turns out to be no failure."""
    if before is None:
        return Failures(key=key, count=0, since=now)
    return replace(
        before,
        count=max(0, before.count - 1),
        blocked_until=None,
        blocks=max(0, before.blocks - (before.blocked_until is not None)),
    )


def blocked_for(failures: Failures, now: datetime) -> timedelta:
    """Return how long the block still lasts; zero when there is none."""
    if failures.blocked_until is None:
        return timedelta(0)
    return max(timedelta(0), failures.blocked_until - now)


def doubling_blocks(shortest: timedelta, longest: timedelta) -> Callable[[int], timedelta]:
    """Make each block twice as long as the one before, up to ``longest``."""
    return lambda blocks: min(shortest * 2 ** min(blocks, _MOST_DOUBLINGS), longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """
    Wrong passwords or codes in a row, or in a window, under one key.

    Attributes:
        key: ``account_ip``, ``ip``, ``account`` or ``factor`` and what it counts.
        count: In the window that began at ``since``.
        blocked_until: Nothing is tried before then.
        blocks: How often it was blocked, for doubling.
    """

    key: str
    count: int
    since: datetime
    blocked_until: datetime | None = None
    blocks: int = 0


NextCounts = Callable[[Mapping[str, Failures | None]], Mapping[str, Failures | None]]
"""Given the counts by key, the counts that follow; None is no count, before and after."""
