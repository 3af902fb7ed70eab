"""
A bounded map of records of the store.

Callers who ask for the same key at once share one read. Balances and payouts are never cached.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from gateway.core.calls import Ready
from gateway.core.change_feed import Belief

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetimes:
    """How long a record and the absence of one are cached, in seconds, and how many of both."""

    found_s: float
    absent_s: float
    size: int


class _Entry(Ready[Record]):
    """
    A record, or its absence, until an instant of the monotonic clock.

    Attributes:
        asked: When its read began.
    """

    __slots__ = ("asked", "until")

    def __init__(self, value: Record, asked: float, until: float) -> None:
        self.value = value
        self.asked = asked
        self.until = until


class _Read(NamedTuple):
    """A read under way, and when it began."""

    asked: float
    found: asyncio.Future[Any]


class RecordCache(Generic[Record]):
    """
    Immutable records by key, each cached for a fixed time after it was read.

    The key used least recently goes first. A failed read is not cached: it reaches the callers,
    and the next caller reads again. A record read before stays valid to the end of its time, or
    until it is forgotten.
    """

    def __init__(
        self,
        lifetimes: Lifetimes,
        load: Callable[[str], asyncio.Future[Record | None]],
        on_look_up: Callable[[str], None],
        belief: Belief,
    ) -> None:
        """
        Cache the results of ``load``.

        Args:
            lifetimes: How long and how many.
            load: Begins to read one record; None when there is none.
            on_look_up: Called at each look-up with hit, miss or negative.
            belief: Until when any entry may be used at all.
        """
        self._lifetimes = lifetimes
        self._load = load
        self._on_look_up = on_look_up
        self._belief = belief
        self._entries: OrderedDict[str, _Entry[Record | None]] = OrderedDict()
        self._reads: dict[str, _Read] = {}

    def find(self, key: str) -> Awaitable[Record | None]:
        """
        Return the record of ``key``, or None when there is none.

        A cached record is ``Ready``. Any other awaitable reads the store, and may raise the
        errors of ``load``.
        """
        entry = self._entries.get(key)
        if entry is None or not entry.until > time.monotonic() < self._belief.until:
            return self._read_once(key)
        self._entries.move_to_end(key)
        self._on_look_up("hit" if entry.value is not None else "negative")
        return entry

    async def find_since(self, key: str, instant: float) -> Record | None:
        """
        Return the record from a read that began after an instant of the monotonic clock.

        The cached record serves ``find`` meanwhile. One read of a key runs at a time, shared by
        all who wait, so that wrong secrets for one id cost the store one read after another.
        """
        entry = self._entries.get(key)
        # not at the instant itself: a coarse clock shows the same for a while
        if entry is not None and entry.asked > instant:
            return entry.value
        read = self._reads.get(key)
        if read is not None and read.asked <= instant:
            await self._shared(read)  # if it fails, the next read would fail as well
            read = self._reads.get(key)  # begun by another caller who waited here
        return await self._shared(read or self._begin(key))

    def forget(self, key: str) -> bool:
        """
        Drop the record of ``key``; say whether there was anything.

        A read under way reaches the callers who wait for it, and is not cached: it may have begun
        before the change.
        """
        entry = self._entries.pop(key, None)
        read = self._reads.pop(key, None)
        return entry is not None or read is not None

    def forget_all(self) -> int:
        """Drop everything; return how many records."""
        return sum(map(self.forget, {*self._entries, *self._reads}))

    async def _read_once(self, key: str) -> Record | None:
        """Read a key for all who wait for it."""
        self._on_look_up("miss")
        return await self._shared(self._reads.get(key) or self._begin(key))

    async def _shared(self, read: _Read) -> Record | None:
        """Wait for a read; a caller that gives up does not stop it for the others."""
        found: Record | None = await asyncio.shield(read.found)
        return found

    def _begin(self, key: str) -> _Read:
        """Begin a read. Later callers share it, and it alone will be cached."""
        asked = time.monotonic()
        read = self._reads[key] = _Read(asked, self._load(key))
        # the first callback: the record is cached before those who wait go on
        read.found.add_done_callback(partial(self._ended, key, read))
        return read

    def _ended(self, key: str, read: _Read, found: asyncio.Future[Record | None]) -> None:
        """Cache the record; mark a failure as seen even if no caller waits any more."""
        is_latest = self._reads.get(key) is read
        if is_latest:
            del self._reads[key]
        if not found.cancelled() and found.exception() is None and is_latest:
            self._keep(key, found.result(), read.asked)

    def _keep(self, key: str, record: Record | None, asked: float) -> None:
        """
        Cache a record, or its absence, for its time.

        The time runs from before the read, so that a change during a slow read is not hidden for
        longer.
        """
        lifetimes = self._lifetimes
        until = asked + (lifetimes.absent_s if record is None else lifetimes.found_s)
        if until <= time.monotonic():
            return
        former = self._entries.get(key)
        if former is not None and former.value == record:
            record = former.value  # with the objects derived from it
        self._entries[key] = _Entry(record, asked, until)
        self._entries.move_to_end(key)
        while len(self._entries) > lifetimes.size:
            self._entries.popitem(last=False)
