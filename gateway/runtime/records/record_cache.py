"""
A bounded map of records of the store, and a second look before anybody is refused by it.

Some are kept ready for use, many more packed: those cost a few microseconds to make ready.

Many callers who ask for the same key at once share one load. Balances and
payouts are never cached.

What is kept may be older than the secret somebody shows. So nobody is refused
before the store was looked at once more, after the request arrived. Strangers
must not make the store work by that: the look is shared by all who wait for the
same key, and there are at most two a second for each. A key without a record is
treated like any other, so that no duration tells which exist.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from gateway.domain.backoffice.change_feed import Belief
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Monotonic
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Ready
from gateway.runtime.records.packed_records import PackedRecords

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetimes:
    """
    How long a record and the absence of one are believed, in seconds; how many are kept.

    Attributes:
        size: Ready for use, absences included; packed ones have a bound of their own.
    """

    found_s: float
    absent_s: float
    size: int


class _Entry(Ready[Record]):
    """
    What was found, or that there is nothing, until an instant of the monotonic clock.

    Attributes:
        asked: When reading it began.
    """

    __slots__ = ("asked", "until")

    def __init__(self, value: Record, asked: float, until: float) -> None:
        self.value = value
        self.asked = asked
        self.until = until


_SPREAD: Final = 0x9E3779B1
"""Knuth's: 2**32 over the golden ratio."""
_WORD, _SIXTEENTH = 2**32 - 1, 2**28


class RecordCache(Generic[Record]):
    """
    Immutable records by key, each believed for a fixed time after it was read.

    A failing load is not cached: it reaches the caller, and the next caller
    tries again. A record loaded before stays valid to the end of its time, or
    until it is forgotten.
    """

    def __init__(
        self,
        lifetimes: Lifetimes,
        load: Callable[[str], asyncio.Future[Record | None]],
        on_look_up: Callable[[str], None],
        belief: Belief,
        packed: PackedRecords[Record] | None = None,
    ) -> None:
        """
        Keep what ``load`` returns.

        Args:
            lifetimes: How long and how many.
            load: Begins to read one record; None when there is none.
            on_look_up: Told of each look-up: hit, miss or negative.
            belief: Until when anything kept may be believed at all.
            packed: Where records are kept beside those that are ready; None for nowhere.
        """
        self._lifetimes = lifetimes
        self._load = load
        self._on_look_up = on_look_up
        self._belief = belief
        self._packed = packed
        self._entries: OrderedDict[str, _Entry[Record | None]] = OrderedDict()
        self._unpackings = 0
        self._loading: dict[str, asyncio.Future[Record | None]] = {}

    def find(self, key: str) -> Awaitable[Record | None]:
        """
        Return the record of ``key``, or None when there is none.

        A record that is kept is ``Ready``; all else has to be waited for, and
        may raise there what the load raises.
        """
        entry = self._entries.get(key) or self._unpacked(key)
        if entry is None or not entry.until > time.monotonic() < self._belief.until:
            return self._load_once(key)
        self._on_look_up("hit" if entry.value is not None else "negative")
        return entry

    def read_since(self, key: str, instant: float) -> Ready[Record | None] | None:
        """Return what is kept if reading it began after an instant; else None."""
        entry = self._entries.get(key) or self._unpacked(key)
        # not at the instant itself: a coarse clock shows the same for a while
        return entry if entry is not None and entry.asked > instant else None

    async def renew(self, key: str) -> Record | None:
        """
        Return the record as a reading finds it that begins now.

        What is kept serves others until then.
        """
        return await asyncio.shield(self._begin(key))

    def forget(self, key: str) -> bool:
        """
        Drop what is kept of ``key``; say whether there was anything.

        What is being read of it now reaches those who wait for it already, and
        is not kept: it may have been read before the change.
        """
        entry = self._entries.pop(key, None)
        reading = self._loading.pop(key, None)
        was_packed = self._packed is not None and self._packed.drop(key)
        return entry is not None or reading is not None or was_packed

    def forget_all(self) -> int:
        """Drop everything; return how many records."""
        packed = () if self._packed is None else self._packed.keys()
        return sum(map(self.forget, {*self._entries, *self._loading, *packed}))

    async def _load_once(self, key: str) -> Record | None:
        """Load a key for all who wait for it; a caller that gives up stops nobody else."""
        self._on_look_up("miss")
        return await asyncio.shield(self._loading.get(key) or self._begin(key))

    def _begin(self, key: str) -> asyncio.Future[Record | None]:
        """Begin to load a key; who asks from now on waits for this, and this alone is kept."""
        asked = time.monotonic()
        reading = self._loading[key] = self._load(key)
        # before anybody waits for it: what was read is kept before they go on
        reading.add_done_callback(partial(self._loaded, key, asked))
        return reading

    def _loaded(self, key: str, asked: float, reading: asyncio.Future[Record | None]) -> None:
        """Make room for the next load; mark a failure as seen even if nobody waits any more."""
        is_latest = self._loading.get(key) is reading
        if is_latest:
            del self._loading[key]
        if not reading.cancelled() and reading.exception() is None and is_latest:
            self._keep(key, reading.result(), asked)

    def _keep(self, key: str, record: Record | None, asked: float) -> None:
        """
        Keep a record, or its absence, for its time.

        The time runs from before the load: what changed while it ran must not
        be believed for longer.
        """
        lifetimes = self._lifetimes
        until = asked + (lifetimes.absent_s if record is None else lifetimes.found_s)
        if until <= time.monotonic():
            return
        former = self._entries.get(key)
        if former is not None and former.value == record:
            record = former.value  # and what was made of it
        if self._packed is not None:
            if record is None:
                self._packed.drop(key)
            else:
                self._packed.put(key, record, asked)
        # what is asked for once, and is packed, pushes out nothing that is asked for again
        if self._packed is None or record is None or former is not None or self._has_room():
            self._put(key, _Entry(record, asked, until))

    def _has_room(self) -> bool:
        """Say whether one more may be ready."""
        return len(self._entries) < self._lifetimes.size

    def _put(self, key: str, entry: _Entry[Record | None]) -> None:
        """Have an entry ready, and drop the oldest keys beyond the bound."""
        self._entries[key] = entry
        self._entries.move_to_end(key)
        while len(self._entries) > self._lifetimes.size:
            self._entries.popitem(last=False)

    def _unpacked(self, key: str) -> _Entry[Record | None] | None:
        """
        Unpack a record; None where there is none.

        One in sixteen takes a place among the ready ones: what is asked for often gets there soon,
        and very many asked for in turn do not push out all of it, each before it is used again.
        """
        kept = None if self._packed is None else self._packed.get(key)
        if kept is None:
            return None
        record, asked = kept
        entry: _Entry[Record | None] = _Entry(record, asked, asked + self._lifetimes.found_s)
        self._unpackings += 1
        # multiplied, the numbers of a row of look-ups follow no pattern of theirs
        if self._has_room() or self._unpackings * _SPREAD & _WORD < _SIXTEENTH:
            self._put(key, entry)
        return entry


EVERY_S: Final = 0.5
"""Between two looks for the same key."""
_RETRY: Final = {"Retry-After": "1"}


class SecondLooks(Generic[Record]):
    """Looks again, for as many as wait; remembers the looks of the last half second alone."""

    def __init__(self, records: RecordCache[Record], clock: Monotonic, most: int) -> None:
        """
        Look for nothing yet.

        Args:
            records: What is kept; a look renews it.
            clock: The one that ``records`` goes by.
            most: Requests that may wait at once. Without it, strangers who wait
                would take up the places of all requests.
        """
        self._records = records
        self._clock = clock
        self._most = most
        self._waiting = 0
        self._coming: dict[str, asyncio.Task[Record | None]] = {}
        self._looked: OrderedDict[str, float] = OrderedDict()

    async def after(self, key: str, arrived: float) -> Record | None:
        """
        Return the record as the store had it after an instant.

        Args:
            key: Whose record.
            arrived: When the request came, by the clock.

        Raises:
            StoreUnavailable: the store does not answer.
            ServiceError: ``SVC.GTW.006`` (503) when too many wait already, whichever
                key it is; nobody can tell whether the secret is wrong.
        """
        if self._waiting >= self._most:
            raise ServiceError(errors.OVERLOADED, "throttled", _RETRY)
        read = self._records.read_since(key, arrived)
        if read is not None:
            # the first look was late enough, and counts as the second one
            self._remember(key, arrived)
            return read.value
        self._waiting += 1
        try:
            return await asyncio.shield(self._coming.get(key) or self._begin(key))
        finally:
            self._waiting -= 1

    def _begin(self, key: str) -> asyncio.Task[Record | None]:
        """Have a look come, which all share who arrive before it begins."""
        task = asyncio.get_running_loop().create_task(self._look(key))
        self._coming[key] = task
        task.add_done_callback(_seen)
        return task

    async def _look(self, key: str) -> Record | None:
        """Look as soon as the last look for the key is half a second ago."""
        try:
            wait_s = self._looked.get(key, -EVERY_S) + EVERY_S - self._clock()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
        finally:
            # who arrives from now on needs another look: this one begins
            del self._coming[key]
        self._remember(key, self._clock())
        return await self._records.renew(key)

    def _remember(self, key: str, at: float) -> None:
        """Remember a look, and forget those that keep nobody waiting any more."""
        self._looked[key] = max(at, self._looked.get(key, at))
        self._looked.move_to_end(key)
        over = self._clock() - EVERY_S
        while self._looked and next(iter(self._looked.values())) <= over:
            self._looked.popitem(last=False)


def _seen(task: asyncio.Task[Record | None]) -> None:
    """Mark a failure as seen, even if nobody waits any more."""
    if not task.cancelled():
        task.exception()
