"""
The outflow guard: judges recent payouts in the background, alarms, and stops where it may.

No request waits for it and none of its statements is a payout's: it reads payouts by the instant
they were created. All that it knows is in the store, so it goes on after a restart and in another
process. Payouts that one of its stops covers are not judged again: neither for the account and the
company of a stopped credential, nor after a person has lifted the stop.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway.audit import store as audit_log
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.core.company_scope import StopScope
from gateway.outflow.envelope import (
    HISTORY_DAYS,
    KNOWN_AFTER_S,
    Envelope,
    Excess,
    Floor,
    History,
    Hour,
    Recent,
    Spent,
    hour_of,
    judge,
)
from gateway.outflow.model import SCOPES, Mode, Trip, reason_of
from gateway.outflow.store import HOUR, KEPT, OutflowRecords, Payee, Payout, Subject, local_hour
from gateway.stops.model import GUARD, LONGEST_MIN, EndedStop, StopRequest
from gateway.stops.service import Stops

_log = logging.getLogger(__name__)

OUTSIDE: Final = "outflow.outside"
_LATE: Final = timedelta(minutes=45)
"""After the end of an hour until it is history: most payouts are settled, and most holds over."""
_HOURS_AT_ONCE: Final = 48
_OVERLAP: Final = timedelta(seconds=30)
"""A payout is stored up to some seconds after the instant it carries."""
_AHEAD: Final = timedelta(minutes=1)
"""Another process's clock may be ahead."""
_GAP: Final = timedelta(seconds=60)
"""Without a look for so long, another process had the lease: everything is read anew."""
_SEEN_EVERY: Final = timedelta(seconds=60)
_KNOWN_AFTER: Final = timedelta(seconds=KNOWN_AFTER_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """
    What the guard does.

    Attributes:
        mode: For companies without a mode of their own.
        companies: Modes by a company's id.
    """

    mode: Mode
    companies: Mapping[str, Mode]
    floor: Floor

    def mode_of(self, company: str) -> Mode:
        """Return what the guard does for a company."""
        return self.companies.get(company, self.mode)

    @property
    def is_on(self) -> bool:
        """Return whether it does anything for anybody."""
        return self.mode is not Mode.OFF or any(
            each is not Mode.OFF for each in self.companies.values()
        )


@dataclass(slots=True)
class _Looked:
    """
    What was read of the last hour.

    Attributes:
        at: When it was read last.
        first: Since when payees are paid.
        recent: By subject; ``company`` tells whose subject it is.
    """

    at: datetime
    stops: Sequence[EndedStop]
    keys: set[tuple[str, bytes]] = field(default_factory=set)
    first: dict[Payee, datetime] = field(default_factory=dict)
    recent: dict[Subject, Recent] = field(default_factory=dict)
    company: dict[Subject, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class OutflowGuard:
    """
    Judges credentials, accounts and companies; one process at a time does it.

    Attributes:
        new_id: Makes a UUID.
    """

    records: OutflowRecords
    stops: Stops
    config: GuardConfig
    now: Now
    new_id: Callable[[], str]
    _looked: _Looked | None = None
    _until: datetime | None = None
    _histories: dict[Subject, History] = field(default_factory=dict)
    _envelopes: dict[Subject, tuple[int, Envelope]] = field(default_factory=dict)
    _trips: dict[Subject, Trip] = field(default_factory=dict)

    async def turn(self) -> None:
        """
        Look once: complete the history, read new payouts, judge whom they concern.

        While the history is far behind, as at the first start, nothing is judged.

        Raises:
            StoreUnavailable: the next turn tries again.
        """
        now = self.now()
        if not await self._roll_up(now):
            return
        looked = self._looked
        if (
            looked is None
            or not timedelta() <= now - looked.at < _GAP
            or await self._is_lifted(looked)
        ):
            looked = await self._load(now)
            changed = set(looked.recent)
        else:
            changed = await self._read(looked, now)
        is_exact = False
        for scope in SCOPES:
            found = [*await self._outside(scope, changed, now)]
            if found and not is_exact:
                # Payouts that failed meanwhile moved nothing.
                looked, is_exact = await self._load(now), True
                changed = set(looked.recent)
                found = [*await self._outside(scope, changed, now)]
            stopped = [await self._act(subject, excess, now) for subject, excess in found]
            if any(stopped):
                await self._load(now)

    async def _roll_up(self, now: datetime) -> bool:
        """Add the hours that are over to the history; return whether it is complete."""
        if self._until is not None and now < self._until + HOUR + _LATE:
            return True
        until = await self.records.until()
        earliest = _beginning(now - KEPT)
        if until is None or until < earliest:
            oldest = await self.records.oldest(earliest)
            begin = _beginning(oldest or now - HOUR)
            if not await self.records.skip_to(begin, until):
                return False
            until = begin
        for _ in range(_HOURS_AT_ONCE):
            if now < until + HOUR + _LATE:
                break
            if not await self._add_hour(until, now):
                return False
            until += HOUR
        self._until, self._looked = until, None
        self._histories.clear()
        self._envelopes.clear()
        return now < until + HOUR + _LATE

    async def _add_hour(self, hour: datetime, now: datetime) -> bool:
        """Add one hour; what led to a stop that is in force is no history."""
        in_force = [each for each in await self.records.stops(now, now) if each.lifted_at is None]
        payouts = [
            each
            for each in await self.records.payouts(hour, hour + HOUR)
            if not any(
                _covers(stop, each) and each.at > stop.created_at - HOUR for stop in in_force
            )
        ]
        first = dict(await self.records.first_paid({_payee(each) for each in payouts}))
        spent: dict[Subject, list[Spent]] = {}
        for payout, one in judged(payouts, first):
            for subject in payout.subjects:
                spent.setdefault(subject, []).append(one)
        place = local_hour(hour)
        figures = {subject: hour_of(place, each) for subject, each in spent.items()}
        return await self.records.add_hour(hour, figures, first, hour)

    async def _load(self, now: datetime) -> _Looked:
        """Read the last hour anew."""
        self._looked = looked = _Looked(now, await self.records.stops(now - HOUR, now))
        self._trips = {
            Subject(each.scope, each.subject): each
            for each in await self.records.tripped(now - HOUR)
        }
        await self._add(looked, await self.records.payouts(now - HOUR, now + _AHEAD))
        return looked

    async def _is_lifted(self, looked: _Looked) -> bool:
        """Return whether a stop of the guard was lifted since it was read."""
        since = looked.at - HOUR
        return {each.id: each.lifted_at for each in await self.records.stops(since, looked.at)} != {
            each.id: each.lifted_at for each in looked.stops
        }

    async def _read(self, looked: _Looked, now: datetime) -> set[Subject]:
        """Read what is new; return whom it concerns."""
        found = await self.records.payouts(looked.at - _OVERLAP, now + _AHEAD)
        looked.at = now
        return await self._add(looked, [each for each in found if each.key not in looked.keys])

    async def _add(self, looked: _Looked, payouts: Sequence[Payout]) -> set[Subject]:
        unknown = {_payee(each) for each in payouts} - looked.first.keys()
        looked.first.update(await self.records.first_paid(unknown))
        looked.keys.update(each.key for each in payouts)
        changed: set[Subject] = set()
        for payout, spent in judged(payouts, looked.first):
            if any(_excuses(stop, payout) for stop in looked.stops):
                continue
            for subject in payout.subjects:
                looked.recent.setdefault(subject, Recent()).add(spent)
                looked.company[subject] = payout.company
                changed.add(subject)
        return changed

    async def _outside(
        self, scope: StopScope, changed: set[Subject], now: datetime
    ) -> Sequence[tuple[Subject, Excess]]:
        """Return the changed subjects of a scope that are outside, with the first measure."""
        looked, found = self._looked, list[tuple[Subject, Excess]]()
        if looked is None:
            return found
        for subject in changed:
            recent = looked.recent.get(subject)
            if subject.scope is not scope or recent is None:
                continue
            if self.config.mode_of(looked.company[subject]) is Mode.OFF:
                continue
            excess = next(judge(recent, await self._envelope(subject, now)), None)
            if excess is not None:
                found.append((subject, excess))
        return found

    async def _envelope(self, subject: Subject, now: datetime) -> Envelope:
        hour = local_hour(now)
        kept = self._envelopes.get(subject)
        if kept is not None and kept[0] == hour:
            return kept[1]
        history = self._histories.get(subject)
        if history is None:
            history = await self.records.history(subject, now - timedelta(days=HISTORY_DAYS))
            self._histories[subject] = history
        found = history.envelope(hour, self.config.floor)
        self._envelopes[subject] = hour, found
        return found

    async def _act(self, subject: Subject, excess: Excess, now: datetime) -> bool:
        """Alarm, and stop the subject where the mode says so; return whether it was stopped."""
        assert self._looked is not None  # noqa: S101 - it was judged
        company, stop_id = self._looked.company[subject], None
        known, reason = self._trips.get(subject), reason_of(excess)
        stops = self.config.mode_of(company) is Mode.STOP
        if known is not None and not stops:
            if now - known.seen_at >= _SEEN_EVERY:
                await self.records.seen(known.id, now)
                self._trips[subject] = known.seen_again(now)
            return False
        who = Staff(AuditContext(GUARD, self.now))
        if stops:
            wanted = StopRequest(
                scope=subject.scope, subject=subject.id, reason=reason, minutes=LONGEST_MIN
            )
            stop_id = (await self.stops.create(who, wanted)).id
        trip = Trip(
            id=self.new_id(),
            company_id=company,
            scope=subject.scope,
            subject=subject.id,
            measure=excess.measure,
            window_s=excess.window_s,
            value=excess.value,
            bound=excess.bound,
            above=excess.above,
            at=now,
            seen_at=now,
            stop_id=stop_id,
        )
        event = who.acting.event(OUTSIDE, f"{subject.scope}:{subject.id}", {"reason": reason})
        async with self.records.database.writing() as connection:
            await self.records.trip(connection, trip)
            await audit_log.append(connection, event)
        self._trips[subject] = trip
        _log.warning(
            "outflow_outside scope=%s subject=%s stopped=%s: %s",
            *(subject.scope.value, subject.id, stops, reason),
        )
        return stops


def judged(
    payouts: Sequence[Payout], first: dict[Payee, datetime]
) -> Iterator[tuple[Payout, Spent]]:
    """Yield payouts as they are judged; payees that were never paid are added to ``first``."""
    for each in payouts:
        since = first.setdefault(_payee(each), each.at)
        is_new = each.at - since < _KNOWN_AFTER
        yield each, Spent(each.at.timestamp(), each.centavos, is_new)


def hours_of(payouts: Sequence[tuple[Payout, Spent]]) -> Sequence[tuple[datetime, Hour]]:
    """Sum up payouts by hour."""
    found: dict[datetime, list[Spent]] = {}
    for payout, spent in payouts:
        found.setdefault(_beginning(payout.at), []).append(spent)
    return [(at, hour_of(local_hour(at), each)) for at, each in found.items()]


def _payee(payout: Payout) -> Payee:
    return payout.company, payout.payee


def _covers(stop: EndedStop, payout: Payout) -> bool:
    return stop.concerns(payout.company, payout.account, client_id=payout.credential)


def _excuses(stop: EndedStop, payout: Payout) -> bool:
    """Return whether a payout led to a stop, or was before people lifted it."""
    return _covers(stop, payout) and (stop.lifted_at is None or payout.at <= stop.lifted_at)


def _beginning(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
