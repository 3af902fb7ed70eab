"""
Caches of records in this process, and the change feed that invalidates them.

Records are invalidated by this process's own transactions, before their callers are answered, and
by the change feed, for changes of other processes. Every cache of records must be registered here,
or it serves stale records. Balances and payouts are never cached.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar

from gateway.app.store import Store
from gateway.config.settings import Settings
from gateway.core.account import Account
from gateway.core.calls import Ready
from gateway.core.change_feed import Act, CacheValidity, Kept, Mark, News, outdated
from gateway.core.clocks import Monotonic, Now
from gateway.core.storage import StoreUnavailable
from gateway.credentials.model import Credential
from gateway.credentials.store import StoredCredentials
from gateway.identity.signing_keys import Keyring
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.stops.model import Stop
from gateway.stops.service import stops_in_force
from gateway.telemetry.ports import Count, Event, Gauge, Show
from gateway.telemetry.records import RequestObserver

Key = TypeVar("Key")
Record = TypeVar("Record")
Found = TypeVar("Found")

_log: Final = logging.getLogger(__name__)


class Bounded(Generic[Key, Found]):
    """
    Reads with a timeout; a slow read raises ``StoreUnavailable`` like every other failure.

    A read that times out is cancelled and not awaited: a driver may take seconds to give up on a
    silent server.
    """

    def __init__(self, load: Callable[[Key], Coroutine[Any, Any, Found]]) -> None:
        self._load = load
        self._given_up: set[asyncio.Task[Found]] = set()

    async def read(self, key: Key, seconds: float) -> Found:
        """Read; raises StoreUnavailable after ``seconds``."""
        task = asyncio.create_task(self._load(key))  # noqa: TID251 - awaited here, or cancelled and kept
        try:
            done, _ = await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                self._given_up.add(task)
                task.add_done_callback(self._ended)
                task.cancel()
        if not done:
            raise StoreUnavailable(self._load.__qualname__)
        return task.result()

    def _ended(self, task: asyncio.Task[Found]) -> None:
        """Drop the reference to a read that timed out."""
        self._given_up.discard(task)
        if not task.cancelled():
            task.exception()


def within(
    seconds: float, load: Callable[[Key], Coroutine[Any, Any, Found]]
) -> Callable[[Key], Awaitable[Found]]:
    """Add a timeout to a look-up; see ``Bounded``."""
    return partial(Bounded(load).read, seconds=seconds)


# One cache


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
        asked: Start of its read.
    """

    __slots__ = ("asked", "until")

    def __init__(self, value: Record, asked: float, until: float) -> None:
        self.value = value
        self.asked = asked
        self.until = until


@dataclass(slots=True, eq=False)
class _Read(Generic[Record]):
    """
    A read of one key, shared by all callers that wait.

    Attributes:
        asked: Time of the first request for it.
    """

    key: str
    asked: float
    found: asyncio.Future[Record | None]


_UNDER_WAY: Final = 2
"""Statements at once: one is answered by the store while the other's rows are read here."""
_MOST: Final = 500
"""Keys in one statement; what its rows cost stands in the way of everything else on the loop."""


class RecordCache(Generic[Record]):
    """
    Immutable records by key, each cached for a fixed time after it was read.

    Keys requested in the same turn of the loop share a statement: a single look-up costs a
    connection, a hop to a thread or a server, and a statement. While two statements are under way
    the next batch fills. The least recently used key is evicted first. A failed read is not cached:
    it reaches the callers, and the next caller reads again. A record read before stays valid to the
    end of its time, or until it is forgotten.
    """

    def __init__(
        self,
        lifetimes: Lifetimes,
        load: Callable[[Sequence[str]], Coroutine[Any, Any, Mapping[str, Record]]],
        within_s: float,
        on_look_up: Callable[[str], None],
        validity: CacheValidity,
    ) -> None:
        """
        Cache the results of ``load``.

        Args:
            lifetimes: How long and how many.
            load: Reads the records of several keys; absent ones are left out.
            within_s: The longest that a caller waits, the time before its statement included.
            on_look_up: Called at each look-up with ``hit``, ``miss`` or ``negative``.
            validity: Until when the cache may be used at all.
        """
        self._lifetimes = lifetimes
        self._load = Bounded(load)
        self._within_s = within_s
        self._on_look_up = on_look_up
        self._validity = validity
        self._entries: OrderedDict[str, _Entry[Record | None]] = OrderedDict()
        self._reads: dict[str, _Read[Record]] = {}
        self._queue: dict[str, _Read[Record]] = {}
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_due = False

    def find(self, key: str) -> Awaitable[Record | None]:
        """
        Return the record of ``key``, or None when there is none.

        A cached record is ``Ready``. Any other awaitable reads the store, and may raise the
        errors of ``load``.
        """
        entry = self._entries.get(key)
        if entry is None or not entry.until > time.monotonic() < self._validity.until:
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
        Drop the record of ``key``; return whether there was anything.

        A read under way is returned to its callers but not cached: it may have begun before the
        change.
        """
        entry = self._entries.pop(key, None)
        read = self._reads.pop(key, None)
        return entry is not None or read is not None

    def forget_all(self) -> int:
        """Drop everything; return the number of records."""
        return sum(map(self.forget, {*self._entries, *self._reads}))

    async def _read_once(self, key: str) -> Record | None:
        self._on_look_up("miss")
        return await self._shared(self._reads.get(key) or self._begin(key))

    async def _shared(self, read: _Read[Record]) -> Record | None:
        """Await a read; a cancelled caller does not cancel the read for the others."""
        return await asyncio.shield(read.found)

    def _begin(self, key: str) -> _Read[Record]:
        """Begin a read. Later callers share it, and only its result will be cached."""
        loop = asyncio.get_running_loop()
        # one that was forgotten before its statement began will see the change
        read = self._queue.get(key) or _Read(key, time.monotonic(), loop.create_future())
        self._reads[key] = self._queue[key] = read
        if not self._is_due and len(self._under_way) < _UNDER_WAY:
            self._is_due = True
            loop.call_soon(self._send)
        return read

    def _send(self) -> None:
        """Send the collected keys, as long as another statement may run."""
        self._is_due = False
        while self._queue and len(self._under_way) < _UNDER_WAY:
            batch = list(self._queue.values())[:_MOST]
            for read in batch:
                del self._queue[read.key]
            task = asyncio.get_running_loop().create_task(self._answer(batch))
            self._under_way.add(task)
            task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        """Send the keys collected meanwhile."""
        self._under_way.discard(task)
        if task.cancelled():  # the process ends
            self._give_up([*self._queue.values()])
            self._queue.clear()
            return
        self._send()

    async def _answer(self, batch: Sequence[_Read[Record]]) -> None:
        """Read one batch; its callers get the record or the failure, or the process ends."""
        try:
            await self._read(batch, batch[0].asked + self._within_s)
        finally:
            self._give_up([read for read in batch if not read.found.done()])  # it was cancelled

    def _give_up(self, reads: Sequence[_Read[Record]]) -> None:
        for read in reads:
            self._end(read)
            read.found.cancel()

    async def _read(self, batch: Sequence[_Read[Record]], until: float) -> None:
        keys = [read.key for read in batch]
        try:
            found = await self._load.read(keys, max(0.0, until - time.monotonic()))
        except Exception as problem:  # noqa: BLE001 - whatever it is, it reaches those who wait
            if len(batch) == 1 or time.monotonic() >= until:
                self._fail(batch, problem)
                return
            # one of them may be the cause: a row that cannot be read harms nobody else
            for read in batch:
                await self._read([read], until)
            return
        for read in batch:
            record = found.get(read.key)
            if self._end(read):  # before those who wait go on
                self._keep(read.key, record, read.asked)
            if not read.found.done():
                read.found.set_result(record)

    def _fail(self, batch: Sequence[_Read[Record]], problem: Exception) -> None:
        for read in batch:
            self._end(read)
            if not read.found.done():
                read.found.set_exception(problem)
                read.found.exception()  # seen, even if no caller waits any more

    def _end(self, read: _Read[Record]) -> bool:
        """Allow the next caller to read again; return whether this is the key's latest read."""
        if self._reads.get(read.key) is not read:
            return False
        del self._reads[read.key]
        return True

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


# What is kept


def watched(
    load: Callable[[Sequence[str]], Awaitable[Found]], show: Show
) -> Callable[[Sequence[str]], Coroutine[Any, Any, Found]]:
    """Export whether the last query of the credential store succeeded."""

    async def watched_load(keys: Sequence[str]) -> Found:
        try:
            found = await load(keys)
        except (StoreUnavailable, asyncio.CancelledError):
            show(Gauge.CREDENTIAL_STORE_UP, 0)  # cancelled: it took too long
            raise
        show(Gauge.CREDENTIAL_STORE_UP, 1)
        return found

    return watched_load


_WRITE_EVERY_S: Final = 5.0
"""The date is for people who look for unused secrets; a write per request would double its cost."""


_ADDRESSES_BETWEEN: Final = 1_000
"""Addresses remembered between two writes: one stranger's loop costs no more memory."""


class LastUses:
    """
    Records the last use of secrets, and from where; written in the background.

    A use that is lost in a crash does no harm: the next use is written.

    Attributes:
        task: Writes in the background, and once more when it is stopped.
    """

    def __init__(self, store: StoredCredentials, now: Now) -> None:
        self._store = store
        self._now = now
        self._used: set[tuple[str, bytes]] = set()
        self._addresses: dict[tuple[str, str], bool] = {}
        schedule = Schedule(every_s=_WRITE_EVERY_S, delayed=True, finishing=True)
        self.task = PeriodicTask("last uses", self.write, schedule)

    def note(self, client_id: str, digest: bytes, address: str) -> None:
        """Remember one use, and from where."""
        self._used.add((client_id, digest))
        if len(self._addresses) < _ADDRESSES_BETWEEN:
            self._addresses.setdefault((client_id, address), False)

    def refused(self, client_id: str, address: str) -> None:
        """Remember that the credential's rule refused a use."""
        if (client_id, address) in self._addresses:
            self._addresses[client_id, address] = True

    async def write(self) -> None:
        """Write the recorded uses; when the store fails, the next use tries again."""
        used, self._used = self._used, set()
        addresses, self._addresses = self._addresses, {}
        try:
            for client_id, digest in used:
                await self._store.touch(client_id, digest, self._now())
            for (client_id, address), is_refused in addresses.items():
                await self._store.touch_address(
                    client_id, address, self._now(), is_refused=is_refused
                )
        except StoreUnavailable:
            _log.warning("last use not stored")


STOPS_BELIEVED_S: Final = 5.0
"""Stops are believed for as long as any record, should the change feed be blind to a change."""
_STOPS: Final = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecords:
    """
    The cached records of this process.

    Attributes:
        validity: Until when the records may be used; the change feed extends it.
        count: Called with ``forgotten``, the source of the change and the kind of record.
    """

    credentials: RecordCache[Credential]
    accounts: RecordCache[Account]
    stops: RecordCache[Sequence[Stop]]
    keyring: Keyring
    validity: CacheValidity
    count: Count

    async def stops_in_force(self) -> Sequence[Stop]:
        """
        Return the stops that are in force, or were a moment ago: callers check each stop again.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        return await self.stops.find(_STOPS) or ()

    def forget_all(self) -> None:
        """Drop all records: the changes are unknown."""
        for kind, forgotten in (
            (Kept.CREDENTIAL, self.credentials.forget_all()),
            (Kept.ACCOUNT, self.accounts.forget_all()),
            (Kept.STOP, self.stops.forget_all()),
            (Kept.SIGNING_KEY, int(self.keyring.forget())),
        ):
            for _ in range(forgotten):
                self.count(Event.FORGOTTEN, f"restart.{kind}")

    def forget(self, act: Act, told_by: str) -> None:
        """Drop the record that an act changed, if cached; the source is ``own`` or ``feed``."""
        found = outdated(act)
        if found is not None and self._drop(*found):
            self.count(Event.FORGOTTEN, f"{told_by}.{found[0]}")

    def _drop(self, kind: Kept, key: str) -> bool:
        """Drop one record; return whether it was cached."""
        match kind:
            case Kept.CREDENTIAL:
                return self.credentials.forget(key)
            case Kept.ACCOUNT:
                return self.accounts.forget(key)
            case Kept.STOP:
                return self.stops.forget(_STOPS)
            case Kept.SIGNING_KEY:
                return self.keyring.forget()


def build_kept_records(
    settings: Settings, store: Store, keyring: Keyring, observer: RequestObserver, now: Now
) -> KeptRecords:
    """Build the caches; none is used before the change feed is followed."""
    validity, basic, database = CacheValidity(), settings.auth.basic, store.database
    lifetimes = Lifetimes(
        found_s=basic.cache_ttl_s,
        absent_s=basic.cache_negative_ttl_s,
        size=basic.cache_size,
    )
    once = Lifetimes(found_s=STOPS_BELIEVED_S, absent_s=STOPS_BELIEVED_S, size=1)

    async def in_force(_keys: Sequence[str]) -> Mapping[str, Sequence[Stop]]:
        return {_STOPS: await stops_in_force(database, now())}

    bound_s, count = (
        settings.database.auth_timeout_s,
        partial(observer.count, Event.CREDENTIAL_CACHE),
    )
    find_credentials = watched(store.credentials.find_all, observer.show)
    return KeptRecords(
        credentials=RecordCache(lifetimes, find_credentials, bound_s, count, validity),
        accounts=RecordCache(lifetimes, store.accounts.find_all, bound_s, _unseen, validity),
        stops=RecordCache(once, in_force, database.whole_s, _unseen, validity),
        keyring=keyring,
        validity=validity,
        count=observer.count,
    )


def _unseen(_result: str) -> None:
    """Count nothing."""


EVERY_S: Final = 0.5
"""Between two turns: with the time of a turn, less than the second promised."""
PATIENCE_S: Final = 1.5
"""For one reading; two that fail still leave time for a third before nothing is believed."""
VALID_S: Final = 4.0
"""From the beginning of the last turn that ended well; below the five promised without a feed."""

Read = Callable[[Mark | None], Awaitable[News | None]]
"""As ``Changes.read``, bounded in time."""


# The feed


class ChangeFeed:
    """Drops records that the audit log shows as changed; ``turn`` is called again and again."""

    def __init__(
        self,
        read: Read,
        kept: KeptRecords,
        clock: Monotonic,
    ) -> None:
        """
        Begin without a position in the log.

        Args:
            read: Reads the log, at the database that writes.
            kept: The cached records, which are valid for as long as the log is followed.
            clock: The clock of the cached records.
        """
        self._read = read
        self._kept = kept
        self._clock = clock
        self._mark: Mark | None = None
        self._followed_at = clock()
        self._is_lost = False

    async def run_once(self) -> None:
        """Follow to the end of the log; a silent store is read again with the next turn."""
        try:
            followed_at = await self._follow()
        except StoreUnavailable as problem:
            self._log_lost(problem)
            return
        # only now: what was changed before that instant is forgotten
        self._followed_at = followed_at
        self._kept.validity.until = followed_at + VALID_S
        if self._is_lost:
            self._is_lost = False
            _log.info("change_feed_back")

    def age_s(self) -> float:
        """Return the seconds since the log was followed to its end."""
        return self._clock() - self._followed_at

    def is_believed(self) -> bool:
        """Return whether cached records are valid."""
        return self._clock() < self._kept.validity.until

    async def _follow(self) -> float:
        """Read until nothing is left; return when the last, empty read began."""
        while True:
            asked = self._clock()
            news = await self._read(self._mark)
            if news is None:
                _log.error("change_feed_restarted: the audit log is not the one followed so far")
                self._mark = None
                continue
            if self._mark is None:
                self._kept.forget_all()
            self._mark = news.mark
            for act in news.acts:
                self._kept.forget(act, "feed")
            if news.is_all:
                return asked

    def _log_lost(self, problem: StoreUnavailable) -> None:
        """Log the first failure of a row."""
        if not self._is_lost:
            self._is_lost = True
            _log.warning("change_feed_lost: %s", problem)
