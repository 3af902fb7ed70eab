"""
The outflow guard: judges recent payouts in the background, alarms, and stops where it may.

No request waits for it and none of its statements is a payout's: it reads payouts by the instant
they were created. All its state is in the store, so it continues after a restart and in another
process. Payouts that one of its stops covers are not judged again: neither for the account and the
company of a stopped credential, nor after a person has lifted the stop.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
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
    OpenHour,
    Recent,
    Spent,
    hour_of,
    judge,
)
from gateway.outflow.model import SCOPES, Mode, Trip, reason_of
from gateway.outflow.store import (
    HOUR,
    KEPT,
    Key,
    OutflowRecords,
    Payee,
    Payout,
    Subject,
    local_hour,
)
from gateway.stops.model import GUARD, LONGEST_MIN, EndedStop, StopRequest
from gateway.stops.service import Stops

_log = logging.getLogger(__name__)

OUTSIDE: Final = "outflow.outside"
_LATE: Final = timedelta(minutes=45)
"""After the end of an hour until it is history: most payouts are settled, and most holds over."""
_HOURS_AT_ONCE: Final = 48
_OVERLAP: Final = timedelta(seconds=2)
"""A payout is stored a little after the instant it carries."""
_LATEST: Final = timedelta(seconds=30)
"""The same on a bad day. So long after it every payout was looked for again."""
_AHEAD: Final = timedelta(minutes=1)
"""Another process's clock may be ahead."""
_GAP: Final = timedelta(seconds=60)
"""Without a look for so long, another process had the lease: everything is read anew."""
_SEEN_EVERY: Final = timedelta(seconds=60)
_KNOWN_AFTER: Final = timedelta(seconds=KNOWN_AFTER_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """
    The guard's settings.

    Attributes:
        mode: For companies without a mode of their own.
        companies: Modes by a company's id.
    """

    mode: Mode
    companies: Mapping[str, Mode]
    floor: Floor

    def mode_of(self, company: str) -> Mode:
        """Return the guard's mode for a company."""
        return self.companies.get(company, self.mode)

    @property
    def is_on(self) -> bool:
        """Return whether the guard is on for any company."""
        return self.mode is not Mode.OFF or any(
            each is not Mode.OFF for each in self.companies.values()
        )


@dataclass(slots=True)
class _Looked:
    """
    The payouts read of the last hour.

    Attributes:
        at: When it was read last.
        late_at: When payouts that were stored late were looked for last.
        keys: Keys already read that may be found again.
        first: Since when payees are paid.
        recent: By subject; ``company`` is the subject's company.
    """

    at: datetime
    late_at: datetime
    stops: Sequence[EndedStop]
    keys: dict[Key, datetime] = field(default_factory=dict)
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
        # After a failure, what was read of the last hour may have gaps.
        looked, self._looked = self._looked, None
        if (
            looked is None
            or not timedelta() <= now - looked.at < _GAP
            or await self._is_lifted(looked)
        ):
            looked = await self._load(now)
            changed = set(looked.recent)
        else:
            changed = await self._read(looked, now)
        exact: set[str] = set()
        for scope in SCOPES:
            found = await self._outside(looked, scope, changed, now)
            doubtful = {looked.company[each] for each, _ in found if self._is_new(looked, each)}
            if doubtful := doubtful - exact:
                # Payouts that failed meanwhile moved nothing.
                changed |= await self._read_anew(looked, doubtful, now)
                exact |= doubtful
                found = await self._outside(looked, scope, changed, now)
            stopped = {
                looked.company[subject]
                for subject, excess in found
                if await self._act(looked, subject, excess, now)
            }
            if stopped:
                looked.stops = await self.records.stops(now - HOUR, now)
                await self._read_anew(looked, stopped, now)
        self._looked = looked

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
        self._until = until
        self._histories.clear()
        self._envelopes.clear()
        if self._looked is not None:
            # The history knows the others from now on.
            first = self._looked.first
            self._looked.first = {payee: at for payee, at in first.items() if at >= until}
        return now < until + HOUR + _LATE

    async def _add_hour(self, hour: datetime, now: datetime) -> bool:
        """Add one hour; payouts that led to a stop in force are left out."""
        in_force = [each for each in await self.records.stops(now, now) if each.lifted_at is None]
        sums: dict[Subject, OpenHour] = {}
        first: dict[Payee, datetime] = {}
        paid: set[Payee] = set()
        place = local_hour(hour)
        async for part in self.records.payouts(hour, hour + HOUR):
            counted = [each for each in part if not any(_led_to(stop, each) for stop in in_force)]
            for payout, spent in await judged(self.records, counted, first):
                paid.add(payout.company_payee)
                for subject in payout.subjects:
                    if (summed := sums.get(subject)) is None:
                        summed = sums[subject] = OpenHour(place)
                    summed.add(spent)
        figures = {subject: each.hour for subject, each in sums.items()}
        new = {payee: at for payee, at in first.items() if at >= hour}
        return await self.records.add_hour(hour, figures, new, hour, paid - new.keys())

    async def _load(self, now: datetime) -> _Looked:
        """Read the last hour anew."""
        looked = _Looked(now, now, await self.records.stops(now - HOUR, now))
        self._trips = {
            Subject(each.scope, each.subject): each
            for each in await self.records.tripped(now - HOUR)
        }
        await self._add(looked, self.records.payouts(now - HOUR, now + _AHEAD))
        _forget(looked)
        return looked

    async def _read_anew(self, looked: _Looked, companies: set[str], now: datetime) -> set[Subject]:
        """Read the last hour of companies anew; return whom it concerns."""
        for subject in [each for each in looked.recent if looked.company[each] in companies]:
            del looked.recent[subject]
        changed: set[Subject] = set()
        for company in companies:
            last_hour = self.records.payouts(now - HOUR, now + _AHEAD, company)
            changed |= await self._add(looked, last_hour)
        return changed

    async def _is_lifted(self, looked: _Looked) -> bool:
        """Return whether a stop of the guard was lifted since it was read."""
        since = looked.at - HOUR
        return {each.id: each.lifted_at for each in await self.records.stops(since, looked.at)} != {
            each.id: each.lifted_at for each in looked.stops
        }

    async def _read(self, looked: _Looked, now: datetime) -> set[Subject]:
        """Read new payouts; return the subjects concerned."""
        since, is_late = looked.at - _OVERLAP, now - looked.late_at >= _LATEST
        if is_late:
            since = looked.late_at - _LATEST
        new = self.records.payouts(since, now + _AHEAD, without=looked.keys)
        changed = await self._add(looked, new)
        looked.at = now
        if is_late:
            looked.late_at = now
            _forget(looked)
        return changed

    async def _add(self, looked: _Looked, parts: AsyncIterable[Sequence[Payout]]) -> set[Subject]:
        changed: set[Subject] = set()
        async for part in parts:
            for payout, spent in await judged(self.records, part, looked.first):
                looked.keys[payout.key] = payout.at
                if any(_excuses(stop, payout) for stop in looked.stops):
                    continue
                for subject in payout.subjects:
                    if (recent := looked.recent.get(subject)) is None:
                        recent = looked.recent[subject] = Recent()
                    recent.add(spent)
                    looked.company[subject] = payout.company
                    changed.add(subject)
        return changed

    def _is_new(self, looked: _Looked, subject: Subject) -> bool:
        """Return whether there is more to do for a subject outside than to note it once more."""
        is_watched = self.config.mode_of(looked.company[subject]) is Mode.WATCH
        return not (is_watched and subject in self._trips)

    async def _outside(
        self, looked: _Looked, scope: StopScope, changed: set[Subject], now: datetime
    ) -> Sequence[tuple[Subject, Excess]]:
        """Return the changed subjects above their envelope, with the first excess of each."""
        found: list[tuple[Subject, Excess]] = []
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

    async def _act(self, looked: _Looked, subject: Subject, excess: Excess, now: datetime) -> bool:
        """Alarm, and stop the subject where the mode says so; return whether it was stopped."""
        company, stop_id = looked.company[subject], None
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


async def judged(
    records: OutflowRecords, payouts: Sequence[Payout], first: dict[Payee, datetime]
) -> Sequence[tuple[Payout, Spent]]:
    """Return payouts as they are judged; ``first`` learns since when their payees are paid."""
    first.update(await records.first_paid({each.company_payee for each in payouts} - first.keys()))
    found = []
    for each in payouts:
        since = first.setdefault(each.company_payee, each.at)
        is_new = each.at - since < _KNOWN_AFTER
        found.append((each, Spent(each.at.timestamp(), each.centavos, is_new)))
    return found


def hours_of(payouts: Sequence[tuple[Payout, Spent]]) -> Sequence[tuple[datetime, Hour]]:
    """Sum up payouts by hour."""
    found: dict[datetime, list[Spent]] = {}
    for payout, spent in payouts:
        found.setdefault(_beginning(payout.at), []).append(spent)
    return [(at, hour_of(local_hour(at), each)) for at, each in found.items()]


def _forget(looked: _Looked) -> None:
    """Forget keys too old to be found again."""
    since = looked.late_at - _LATEST
    looked.keys = {key: at for key, at in looked.keys.items() if at >= since}


def _covers(stop: EndedStop, payout: Payout) -> bool:
    return stop.concerns(payout.company, payout.account, client_id=payout.credential)


def _led_to(stop: EndedStop, payout: Payout) -> bool:
    return _covers(stop, payout) and payout.at > stop.created_at - HOUR


def _excuses(stop: EndedStop, payout: Payout) -> bool:
    """Return whether a payout led to a stop, or was before people lifted it."""
    return _covers(stop, payout) and (stop.lifted_at is None or payout.at <= stop.lifted_at)


def _beginning(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
