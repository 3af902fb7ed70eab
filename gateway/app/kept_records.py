"""
What this process keeps of the store, all in one place; look-ups are bounded in time.

Two tell of changes: a transaction of this process, before its caller is
answered, and the change feed, for those of other processes. Whatever else is
ever kept belongs here, or it is believed after it was changed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from gateway.app.batched_reads import BatchedReads, Bounded
from gateway.app.record_cache import Lifetimes, RecordCache
from gateway.app.store import Store
from gateway.config.settings import Settings
from gateway.core.account import Account
from gateway.core.change_feed import Act, Belief, Kept, outdated
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.credentials.model import Credential
from gateway.credentials.store import StoredCredentials
from gateway.identity.signing_keys import Keyring
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.stops.model import Stop
from gateway.stops.service import stops_in_force
from gateway.store.kernel.database import Database
from gateway.telemetry.ports import Count, Event, Gauge, Show
from gateway.telemetry.records import RequestObserver

Key = TypeVar("Key")
Record = TypeVar("Record")
Found = TypeVar("Found")


def within(
    seconds: float, load: Callable[[Key], Coroutine[Any, Any, Record | None]]
) -> Callable[[Key], Awaitable[Record | None]]:
    """Bound a look-up in time; see ``Bounded``."""
    return partial(Bounded(load).read, seconds=seconds)


def watched(
    load: Callable[[Sequence[str]], Awaitable[Found]], show: Show
) -> Callable[[Sequence[str]], Coroutine[Any, Any, Found]]:
    """Show whether the credential store answered the last time it was asked."""

    async def watched_load(keys: Sequence[str]) -> Found:
        try:
            found = await load(keys)
        except (StoreUnavailable, asyncio.CancelledError):
            show(Gauge.CREDENTIAL_STORE_UP, 0)  # cancelled: it took too long
            raise
        show(Gauge.CREDENTIAL_STORE_UP, 1)
        return found

    return watched_load


_log = logging.getLogger(__name__)
_WRITE_EVERY_S: Final = 5.0
"""The date is for people who look for unused secrets; a write per request would double its cost."""


class LastUses:
    """
    Remembers which secrets were used; written in the background, not with the request.

    A use that is lost in a crash does no harm: the next one is written.

    Attributes:
        task: Writes in the background, and once more when it is stopped.
    """

    def __init__(self, store: StoredCredentials, now: Now) -> None:
        """Write to ``store``."""
        self._store = store
        self._now = now
        self._used: set[tuple[str, bytes]] = set()
        schedule = Schedule(every_s=_WRITE_EVERY_S, delayed=True, finishing=True)
        self.task = PeriodicTask("last uses", self.write, schedule)

    def note(self, client_id: str, digest: bytes) -> None:
        """Remember one use."""
        self._used.add((client_id, digest))

    async def write(self) -> None:
        """Write what was used; when the store fails, the next use tries again."""
        used, self._used = self._used, set()
        for client_id, digest in used:
            try:
                await self._store.touch(client_id, digest, self._now())
            except StoreUnavailable:
                _log.warning("last use not stored")
                return


_STOPS_S: Final = 5.0
"""Stops are believed for as long as any record, should the change feed be blind to a change."""
_STOPS: Final = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecords:
    """
    The records that this process keeps.

    Attributes:
        belief: Until when they may be believed; the change feed moves it on.
        count: Told ``forgotten``, with who told of the change and the kind of record.
    """

    credentials: RecordCache[Credential]
    accounts: RecordCache[Account]
    stops: RecordCache[Sequence[Stop]]
    keyring: Keyring
    belief: Belief
    count: Count

    async def stops_in_force(self) -> Sequence[Stop]:
        """
        Return the stops that hold now, or held a moment ago: each is to be asked again.

        Raises:
            StoreUnavailable: the store did not answer.
        """
        return await self.stops.find(_STOPS) or ()

    def forget_all(self) -> None:
        """Forget everything: nobody can tell what was changed."""
        for kind, forgotten in (
            (Kept.CREDENTIAL, self.credentials.forget_all()),
            (Kept.ACCOUNT, self.accounts.forget_all()),
            (Kept.STOP, self.stops.forget_all()),
            (Kept.SIGNING_KEY, int(self.keyring.forget())),
        ):
            for _ in range(forgotten):
                self.count(Event.FORGOTTEN, f"restart.{kind}")

    def forget(self, act: Act, told_by: str) -> None:
        """Forget the record that an act has changed, if it is kept; ``own`` or ``feed`` told."""
        found = outdated(act)
        if found is not None and self._drop(*found):
            self.count(Event.FORGOTTEN, f"{told_by}.{found[0]}")

    def _drop(self, kind: Kept, key: str) -> bool:
        """Drop one record; say whether it was kept."""
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
    """Make the caches; none is used before the change feed is followed."""
    belief = Belief()
    basic, bound_s = settings.auth.basic, settings.database.auth_timeout_s
    lifetimes = Lifetimes(
        found_s=basic.cache_ttl_s, absent_s=basic.cache_negative_ttl_s, size=basic.cache_size
    )
    credentials = BatchedReads(watched(store.credentials.find_all, observer.show), bound_s)
    accounts = BatchedReads(store.accounts.find_all, bound_s)
    count = partial(observer.count, Event.CREDENTIAL_CACHE)
    return KeptRecords(
        credentials=RecordCache(lifetimes, credentials.read, count, belief),
        accounts=RecordCache(lifetimes, accounts.read, _unseen, belief),
        stops=_kept_stops(store.database, now, belief),
        keyring=keyring,
        belief=belief,
        count=observer.count,
    )


def _kept_stops(database: Database, now: Now, belief: Belief) -> RecordCache[Sequence[Stop]]:
    """Keep the stops in force, as one record."""

    async def in_force(_key: str) -> Sequence[Stop]:
        return await stops_in_force(database, now())

    def begin(key: str) -> asyncio.Future[Sequence[Stop] | None]:
        return asyncio.get_running_loop().create_task(in_force(key))

    once = Lifetimes(found_s=_STOPS_S, absent_s=_STOPS_S, size=1)
    return RecordCache(once, begin, _unseen, belief)


def _unseen(_result: str) -> None:
    """Count nothing."""
