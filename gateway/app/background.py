"""The periodic tasks of a serving process, with their schedules."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.app.build_telemetry import Telemetry
from gateway.app.surfaces import ProcessContext, make_approvals, make_follow_up
from gateway.operations.backoffice.callback_accounts import CallbackAccounts
from gateway.operations.backoffice.callbacks import CallbackLooks
from gateway.runtime.audit_log import AuditTally, keeping
from gateway.runtime.gauges import AuditGauge, StoreGauges
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.runtime.reconciler import Reconciler, Work
from gateway.runtime.records.change_feed import EVERY_S, PATIENCE_S, ChangeFeed
from gateway.runtime.records.kept_records import within
from gateway.runtime.request_log_writer import RequestLogWriter
from gateway.runtime.retention import BackofficeRetention
from gateway.store.audit.audit_log import StoredAudit
from gateway.store.engine import Store
from gateway.telemetry.ports import Gauge

_SECOND_S: Final = 1.0
_SCRAPE_S: Final = 15.0
"""The usual interval of a scrape: no gauge is older than two of them."""
_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0
_AUDIT_WALK: Final = (100, 0.05)
"""Events verified at a time, and the seconds between: about 2 ms of work, then others' requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What the periodic tasks work on."""

    store: Store
    parts: ProcessContext
    telemetry: Telemetry
    tally: AuditTally

    def tasks(self, wake: asyncio.Event) -> Sequence[PeriodicTask]:
        """Return the tasks, the change feed first; ``wake`` is set when a callback has come."""
        reconciler, writer = self._reconciler(), self._request_log_writer()
        approvals, retention = make_approvals(self.parts), self._retention()
        task = PeriodicTask
        return (
            task("change feed", self._change_feed().run_once, Schedule(every_s=EVERY_S)),
            task("audit tally", self.tally.run_once, Schedule(every_s=_MINUTE_S, finishing=True)),
            reconciler.task,
            task("callbacks", self._looks(reconciler).turn, Schedule(every_s=_SECOND_S), wake),
            task("request log", writer.run_once, Schedule(every_s=_SECOND_S, finishing=True)),
            task("gauges", self._store_gauges().run_once, Schedule(every_s=_SCRAPE_S)),
            task("cache", self._show_cache, Schedule(every_s=_SCRAPE_S)),
            task("audit", self._audit_gauge().run_once, Schedule(every_s=_HOUR_S)),
            task("approvals", approvals.expire, Schedule(every_s=_MINUTE_S)),
            task("retention", retention.cleanup, Schedule(every_s=_HOUR_S)),
        )

    def _change_feed(self) -> ChangeFeed:
        """Follow the changes of other processes."""
        read = within(PATIENCE_S, self.store.changes.read)
        observer = self.telemetry.observer
        feed = ChangeFeed(read, self.parts.kept, time.monotonic, observer.show)
        self.telemetry.sampled.append(feed.show_age)
        return feed

    async def _show_cache(self) -> None:
        """Show what the cache holds here."""
        self.telemetry.observer.show(Gauge.CACHE_BYTES, await self.parts.cache.size())

    def _reconciler(self) -> Reconciler:
        """Follow unsettled payouts up."""
        return Reconciler(
            Work(
                due=self.store.follow_ups,
                accounts=self.store.accounts,
                follow_up=make_follow_up(self.parts),
                now=self.parts.now,
                owner=str(uuid.uuid4()),
                chance=random.random,
                tell=self.telemetry.observer.unsettled,
            )
        )

    def _looks(self, reconciler: Reconciler) -> CallbackLooks:
        """Look at the payouts that callbacks name."""
        return CallbackLooks(
            store=self.store.office.callbacks,
            accounts=self.store.accounts,
            owners=CallbackAccounts(self.store.accounts, self.parts.banks),
            follow_ups=self.store.follow_ups,
            banks=self.parts.banks,
            look=reconciler.look_at,
            look_back=make_follow_up(self.parts).look_back,
            now=self.parts.now,
        )

    def _request_log_writer(self) -> RequestLogWriter:
        """Write the request log; every request is counted for the audit log, written or not."""
        observer = self.telemetry.observer
        writer = RequestLogWriter(self.store.office.requests, observer.count)
        is_on = self.parts.settings.telemetry.request_log
        observer.kept = keeping(self.tally, writer.keep if is_on else None)
        return writer

    def _retention(self) -> BackofficeRetention:
        """Delete what was kept for long enough."""
        office = self.store.office
        return BackofficeRetention(office.requests, office.callbacks, self.parts.now)

    def _store_gauges(self) -> StoreGauges:
        """Look up the gauges that no request changes."""
        identity, settings = self.store.identity, self.parts.settings
        return StoreGauges(
            panels=identity.panels,
            keys=identity.signing_keys,
            approvals=self.store.office.approvals,
            outbox=identity.outbox,
            idle=timedelta(seconds=settings.session.idle_s),
            values=self.telemetry.values,
            now=self.parts.now,
        )

    def _audit_gauge(self) -> AuditGauge:
        """Verify the audit log."""
        audit = StoredAudit(self.store.database, *_AUDIT_WALK)
        return AuditGauge(audit=audit, values=self.telemetry.values)
