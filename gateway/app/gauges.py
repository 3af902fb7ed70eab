"""Gauges: event-loop lag, open connections, and backlogs in the store."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil, inf
from typing import Final

import structlog

from gateway.app.store import Store
from gateway.audit.store import StoredAudit
from gateway.callbacks.store import CallbackRecords
from gateway.closings.foreign_debits import oldest_readings, open_debits
from gateway.closings.readings import not_reconciled
from gateway.core.audit import AuditHead
from gateway.core.clocks import Monotonic, Now
from gateway.core.sessions import SigningKey
from gateway.deliveries.store import DeliveryRecords
from gateway.net.server.listener import Listener
from gateway.notifications.store import NotificationRecords
from gateway.outflow.store import open_trips
from gateway.payouts.schedule import Backlog
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.received.store import oldest_walks
from gateway.store.kernel.database import Usage
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.cells import Gauge
from gateway.telemetry.metrics.families import Family, Key
from gateway.telemetry.metrics.registry import MetricRegistry


class MeasuredLag:
    """
    Measures event-loop lag and waits for the store, in seconds.

    With the defaults both look back two seconds, so one hiccup alone does not shed requests and the
    second one does.

    Attributes:
        p95_s: The 95th percentile of the last samples; zero while they are too few.
        store_wait_s: The same of the longest wait for the store in each interval.
        take_longest_wait: Returns the longest wait for the store since its last call.
        task: Takes the samples in the background.
    """

    def __init__(
        self,
        observe: Callable[[float], None],
        clock: Monotonic,
        *,
        interval_s: float = 0.1,
        samples: int = 20,
    ) -> None:
        """Pass every sample to ``observe``; keep the last ``samples``."""
        self._observe = observe
        self._clock = clock
        self._interval_s = interval_s
        self._samples: deque[float] = deque(maxlen=samples)
        self._waits: deque[float] = deque(maxlen=samples)
        self.p95_s = self.store_wait_s = 0.0
        self.take_longest_wait: Callable[[], float] = lambda: 0.0
        # No pause between two samples: a loop that is blocked just then would go unseen.
        self.task = PeriodicTask("event loop lag", self.sample, Schedule(every_s=0.0))

    def forget(self) -> None:
        """Drop the samples: a slow start must not count as load."""
        self._samples.clear()
        self._waits.clear()
        self.p95_s = self.store_wait_s = 0.0

    async def sample(self) -> None:
        """Sleep for one interval; record the loop's lag, and the longest wait for the store."""
        due = self._clock() + self._interval_s
        await asyncio.sleep(self._interval_s)
        self._take(max(0.0, self._clock() - due), self.take_longest_wait())

    def _take(self, lag_s: float, wait_s: float = 0.0) -> None:
        """Store a sample of the loop's lag and of the wait for the store."""
        self._samples.append(lag_s)
        self._waits.append(wait_s)
        self.p95_s, self.store_wait_s = _p95(self._samples), _p95(self._waits)
        self._observe(lag_s)


def _p95(samples: deque[float]) -> float:
    """Return the 95th percentile; zero while samples are few, when it would be the maximum."""
    if len(samples) != samples.maxlen:
        return 0.0
    return sorted(samples)[ceil(0.95 * len(samples)) - 1]


def show_connections(metrics: MetricRegistry, public: Listener, usage: Usage) -> None:
    """Export the open connections of callers and to the database, as of the scrape."""

    def open_now() -> Mapping[Key, float]:
        return {(): public.connections.open_connections} if public.is_open else {}

    def turned_away() -> Mapping[Key, float]:
        times = public.connections.turned_away if public.is_open else {}
        return {(reason,): times.get(reason, 0) for reason in series.TURNED_AWAY.values or ()}

    def most() -> Mapping[Key, float]:
        return {(): public.connections.limits.connections} if public.is_open else {}

    metrics.read(series.CONNECTIONS_LIMIT, most)
    metrics.read(series.STORE_IN_USE, lambda: {(): usage.in_use})
    metrics.read(series.STORE_WAITING, lambda: {(): usage.waiting})
    metrics.read(series.CONNECTIONS_OPEN, open_now)
    metrics.read(series.CONNECTIONS_TURNED_AWAY, turned_away)


_log = logging.getLogger(__name__)
_head_log = structlog.get_logger(__name__)
_PAYOUTS_DUE: Final = (series.PAYOUTS_DUE, series.PAYOUT_OLDEST_DUE)
_CALLBACKS_WAITING: Final = (series.CALLBACKS_WAITING, series.CALLBACK_OLDEST_WAITING)
_SHOWN_BYTES: Final = 6
"""Of a hash: as many as a sample holds exactly, and more than anybody can aim at."""


class AuditGauge:
    """Exports whether the audit log is intact, from its first event on."""

    def __init__(self, audit: StoredAudit, values: MetricRegistry) -> None:
        """Verify ``audit`` slowly, and export the result in ``values``."""
        self._audit = audit
        self._values = values
        self._kept: AuditHead | None = None

    async def run_once(self) -> None:
        """
        Read the head, then verify the log once; safe to repeat, and in any number of processes.

        The head is logged and exported first: operators keep it elsewhere, and a long verification
        must not delay the sign that it was moved. The head of the last run must still be part of
        the log, so that a store restored under a running gateway is detected too.

        Raises:
            StoreUnavailable: the last values stay.
        """
        broken = 0
        try:
            head = await self._audit.head()
            _head_log.info("audit_head", audit_number=head.number, audit_hash=head.hash.hex())
            shown = int.from_bytes(head.hash[:_SHOWN_BYTES])
            self._values.child(series.AUDIT_HEAD).set(head.number)
            self._values.child(series.AUDIT_HEAD_HASH).set(shown)
            await self._audit.verify(self._kept)
            self._kept = head
        except ValueError as problem:
            broken = 1
            _log.error("audit_broken: %s", problem)
        self._values.child(series.AUDIT_BROKEN).set(broken)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreGauges:
    """
    Exports sessions, backlogs, key ages and certificate expiry.

    Also the database server's connections, and until when its partitions exist.

    Attributes:
        idle_s: Seconds without a call after which a browser's session ends.
        values: The metrics.
        walks_payments: Payments are looked for at banks.
        reconciles_days: Days are compared with banks in the background.
        certified: Providers whose accounts have had certificates.
    """

    store: Store
    idle_s: float
    values: MetricRegistry
    now: Now
    walks_payments: bool = True
    reconciles_days: bool = True
    certified: set[str] = field(default_factory=set)

    async def run_once(self) -> None:
        """
        Read once; safe to repeat, and in any number of processes.

        Raises:
            StoreUnavailable: the last values stay.
        """
        now = self.now()
        show, identity = self.values.child, self.store.identity
        live = await identity.panels.live(now - timedelta(seconds=self.idle_s), now)
        for state, browsers in live.items():
            show(series.SESSIONS_ACTIVE, state.value).set(browsers)
        waiting = await self.store.approvals.waiting(now)
        age = now - waiting.oldest_at if waiting.oldest_at else timedelta()
        show(series.APPROVALS_WAITING).set(waiting.count)
        show(series.APPROVALS_OLDEST).set(age.total_seconds())
        follow_ups, callbacks = self.store.follow_ups, CallbackRecords(self.store.database)
        self._show_backlog(_PAYOUTS_DUE, await follow_ups.backlog(now), now)
        self._show_backlog(_CALLBACKS_WAITING, await callbacks.waiting(), now)
        await self._show_messages(now)
        await self._show_deliveries(now)
        await self._show_debits(now)
        await self._show_walks(now)
        await self._show_days(now)
        await self._show_outflow(now)
        await self._show_store()
        self._show_keys(await identity.signing_keys.list(), now)
        self._show_certificates(await self.store.accounts.certificates_end())

    async def _show_messages(self, now: datetime) -> None:
        """Export how long the oldest mail and the oldest notification have waited."""
        show, oldest = self.values.child, await self.store.identity.mailbox.waiting(1)
        age = now - oldest[0].created_at if oldest else timedelta()
        show(series.MAILBOX_WAITING).set(age.total_seconds())
        due = await NotificationRecords(self.store.database).oldest_due(now)
        age = now - due if due else timedelta()
        show(series.NOTIFICATIONS_WAITING).set(age.total_seconds())

    def _show_backlog(
        self, families: tuple[Family[Gauge], Family[Gauge]], found: Sequence[Backlog], now: datetime
    ) -> None:
        """Export number and age of the backlog at each provider; zero without a backlog."""
        by_provider = {each.provider: each for each in found}
        for provider in self.values.vocabulary.provider | by_provider.keys():
            backlog = by_provider.get(provider)
            age = now - backlog.oldest_at if backlog else timedelta()
            waiting, oldest = (self.values.child(family, provider) for family in families)
            waiting.set(backlog.waiting if backlog else 0)
            oldest.set(age.total_seconds())

    async def _show_deliveries(self, now: datetime) -> None:
        """Export how long events wait for endpoints that take them, and endpoints by state."""
        records, show = DeliveryRecords(self.store.database), self.values.child
        oldest = await records.oldest_due(now)
        age = now - oldest if oldest else timedelta()
        show(series.EVENTS_WAITING_OLDEST).set(max(age, timedelta()).total_seconds())
        states = await records.states()
        for state in series.ENDPOINT_STATE.values or ():
            show(series.EVENTS_ENDPOINTS, state).set(states.get(state, 0))

    async def _show_debits(self, now: datetime) -> None:
        """Export each provider's open foreign debits, and the age of the last read of debits."""
        database = self.store.database
        found, read = await open_debits(database), await oldest_readings(database)
        for provider in self.values.vocabulary.provider | found.keys() | read.keys():
            self.values.child(series.FOREIGN_DEBITS_OPEN, provider).set(found.get(provider, 0))
            age = now - read.get(provider, now)
            self.values.child(series.FOREIGN_DEBITS_READING, provider).set(age.total_seconds())

    async def _show_walks(self, now: datetime) -> None:
        """Export the age of each provider's oldest walk for payments; zero where none is made."""
        walked = await oldest_walks(self.store.database, now) if self.walks_payments else {}
        for provider in self.values.vocabulary.provider | walked.keys():
            age = max(timedelta(), now - walked.get(provider, now))
            self.values.child(series.PAYMENT_WALK_OLDEST, provider).set(age.total_seconds())

    async def _show_days(self, now: datetime) -> None:
        """Export each provider's days that were not reconciled in time; zero where none is read."""
        found = await not_reconciled(self.store.database, now) if self.reconciles_days else {}
        for provider in self.values.vocabulary.provider | found.keys():
            self.values.child(series.DAYS_NOT_RECONCILED, provider).set(found.get(provider, 0))

    async def _show_store(self) -> None:
        """Export the connections of the database server, and where the partitions end."""
        show, load = self.values.child, await self.store.server_load()
        if load is not None:
            show(series.STORE_SERVER_CONNECTIONS).set(load[0])
            show(series.STORE_SERVER_LIMIT).set(load[1])
        for table, end in (await self.store.partitions_end()).items():
            show(series.STORE_PARTITIONS_END, table).set(end.timestamp())

    async def _show_outflow(self, now: datetime) -> None:
        """Export how many subjects are outside their envelope, or stopped by the guard."""
        outside = await open_trips(self.store.database, now)
        for scope in series.GUARDED.values or ():
            self.values.child(series.OUTFLOW_OUTSIDE, scope).set(outside.get(scope, 0))

    def _show_certificates(self, ends: Mapping[str, datetime]) -> None:
        """Export each provider's first expiry; a provider without certificates gets infinity."""
        for provider in self.certified - ends.keys():
            self.values.child(series.ACCOUNT_CERTIFICATE_ENDS, provider).set(inf)
        for provider, at in ends.items():
            self.values.child(series.ACCOUNT_CERTIFICATE_ENDS, provider).set(at.timestamp())
        self.certified.update(ends)

    def _show_keys(self, keys: Sequence[SigningKey], now: datetime) -> None:
        """Export the age of the newest published key that may sign."""
        published = [each for each in keys if each.retired_at is None]
        begun = [each for each in published if each.signs_from <= now]
        child = self.values.child
        child(series.SIGNING_KEYS, "next").set(len(published) - len(begun))
        child(series.SIGNING_KEYS, "signing").set(len(begun[-1:]))
        child(series.SIGNING_KEYS, "former").set(len(begun[:-1]))
        if begun:
            age = now - begun[-1].signs_from
            child(series.SIGNING_KEY_AGE).set(age.total_seconds())
