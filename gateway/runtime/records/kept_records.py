"""
What this process keeps of the store, all in one place, and how it is forgotten.

Two tell of changes: a transaction of this process, before its caller is
answered, and the change feed, for those of other processes. Whatever else is
ever kept belongs here, or it is believed after it was changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Account, Accounts
from gateway.domain.accounts.credentials import Credential, Credentials
from gateway.domain.backoffice.change_feed import Act, Belief, Kept, outdated
from gateway.domain.kernel.clocks import Now
from gateway.domain.payouts.stops import Stop, Stops
from gateway.runtime.records.lookups import watched, within
from gateway.runtime.records.record_cache import Lifetimes, RecordCache
from gateway.security.identity.signing_keys import Keyring
from gateway.telemetry.ports import Count, Event
from gateway.telemetry.records import RequestObserver

_STOPS_S: Final = 5.0
"""Stops are believed for as long as any record, should the change feed be blind to a change."""
_STOPS: Final = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSources:
    """What records are kept of."""

    credentials: Credentials
    accounts: Accounts
    stops: Stops
    keyring: Keyring


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

    def changed_here(self, act: Act) -> None:
        """Forget what a transaction of this process has changed."""
        self._forget(act, "own")

    def changed_elsewhere(self, act: Act) -> None:
        """Forget what the change feed says was changed, wherever that was."""
        self._forget(act, "feed")

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

    def _forget(self, act: Act, told_by: str) -> None:
        """Forget the record that an act has changed, if it is kept."""
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
    settings: Settings, sources: StoredSources, observer: RequestObserver, now: Now
) -> KeptRecords:
    """Make what is kept; nothing is believed before the change feed is followed."""
    basic, bound = settings.auth.basic, settings.database.auth_timeout_s
    lifetimes = Lifetimes(
        found_s=basic.cache_ttl_s, absent_s=basic.cache_negative_ttl_s, size=basic.cache_size
    )
    belief = Belief()
    return KeptRecords(
        credentials=RecordCache(
            lifetimes,
            watched(within(bound, sources.credentials.find), observer.show),
            partial(observer.count, Event.CREDENTIAL_CACHE),
            belief,
        ),
        accounts=RecordCache(lifetimes, within(bound, sources.accounts.find), _unseen, belief),
        stops=_kept_stops(sources.stops, now, belief),
        keyring=sources.keyring,
        belief=belief,
        count=observer.count,
    )


def _kept_stops(stops: Stops, now: Now, belief: Belief) -> RecordCache[Sequence[Stop]]:
    """Keep the stops in force, as one record."""

    async def in_force(_key: str) -> Sequence[Stop]:
        return await stops.active(now())

    once = Lifetimes(found_s=_STOPS_S, absent_s=_STOPS_S, size=1)
    return RecordCache(once, in_force, _unseen, belief)


def _unseen(_result: str) -> None:
    """Count nothing."""
