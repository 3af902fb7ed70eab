"""The periodic tasks of a serving process, with their schedules."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from gateway.app.build_telemetry import Telemetry
from gateway.app.rooms import Rooms
from gateway.operations.backoffice.bank_callbacks import MissedEvents
from gateway.operations.backoffice.callback_accounts import CallbackAccounts
from gateway.operations.backoffice.callbacks import CallbackLooks
from gateway.runtime.audit_log import AuditTally, keeping
from gateway.runtime.gauges import AuditGauge, StoreGauges
from gateway.runtime.kernel import Kernel
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.runtime.reconciler import Reconciler, Work
from gateway.runtime.records.change_feed import EVERY_S, PATIENCE_S, ChangeFeed
from gateway.runtime.records.kept_records import within
from gateway.runtime.request_log_writer import RequestLogWriter
from gateway.runtime.retention import BackofficeRetention
from gateway.store.audit.audit_log import StoredAudit
from gateway.telemetry.ports import Gauge

_SECOND_S: Final = 1.0
_SCRAPE_S: Final = 15.0
"""The usual interval of a scrape: no gauge is older than two of them."""
_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0
_MISSED: Final = Schedule(every_s=300.0, delayed=True)
"""Banks give up after minutes to hours; each process asks, and an event is stored once."""
_AUDIT_WALK: Final = (100, 0.05)
"""Events verified at a time, and the seconds between: about 2 ms of work, then others' requests."""


def periodic_tasks(
    rooms: Rooms, telemetry: Telemetry, tally: AuditTally, wake: asyncio.Event
) -> Sequence[PeriodicTask]:
    """Return the tasks, the change feed first; ``wake`` is set when a callback has come."""
    kernel, task = rooms.kernel, PeriodicTask
    office = kernel.store.office
    reconciler, writer = _reconciler(rooms), _request_log_writer(kernel, telemetry, tally)
    retention = BackofficeRetention(office.requests, office.callbacks, kernel.now)
    audit = AuditGauge(
        audit=StoredAudit(kernel.store.database, *_AUDIT_WALK), values=telemetry.values
    )
    expire = rooms.backoffice.approvals.expire

    async def show_cache() -> None:
        """Show what the cache holds here."""
        kernel.observer.show(Gauge.CACHE_BYTES, await rooms.cache.size())

    return (
        task("change feed", _change_feed(rooms, telemetry).run_once, Schedule(every_s=EVERY_S)),
        task("audit tally", tally.run_once, Schedule(every_s=_MINUTE_S, finishing=True)),
        reconciler.task,
        task("callbacks", _looks(rooms, reconciler).turn, Schedule(every_s=_SECOND_S), wake),
        task("missed events", _missed_events(rooms).turn, _MISSED),
        task("request log", writer.run_once, Schedule(every_s=_SECOND_S, finishing=True)),
        task("gauges", _store_gauges(kernel, telemetry).run_once, Schedule(every_s=_SCRAPE_S)),
        task("cache", show_cache, Schedule(every_s=_SCRAPE_S)),
        task("audit", audit.run_once, Schedule(every_s=_HOUR_S)),
        task("approvals", expire, Schedule(every_s=_MINUTE_S)),
        task("retention", retention.cleanup, Schedule(every_s=_HOUR_S)),
    )


def _change_feed(rooms: Rooms, telemetry: Telemetry) -> ChangeFeed:
    """Follow the changes of other processes."""
    kernel = rooms.kernel
    read = within(PATIENCE_S, kernel.store.changes.read)
    feed = ChangeFeed(read, rooms.accounts.kept, kernel.monotonic, kernel.observer.show)
    telemetry.sampled.append(feed.show_age)
    return feed


def _reconciler(rooms: Rooms) -> Reconciler:
    """Follow unsettled payouts up."""
    kernel = rooms.kernel
    return Reconciler(
        Work(
            due=kernel.store.follow_ups,
            accounts=kernel.store.accounts,
            follow_up=rooms.payouts.follow_up,
            now=kernel.now,
            owner=kernel.new_id(),
            chance=random.random,
            tell=kernel.observer.unsettled,
        )
    )


def _looks(rooms: Rooms, reconciler: Reconciler) -> CallbackLooks:
    """Look at the payouts that callbacks name."""
    store = rooms.kernel.store
    return CallbackLooks(
        store=store.office.callbacks,
        owners=CallbackAccounts(store.accounts, rooms.bank.banks),
        accounts=store.accounts,
        follow_ups=store.follow_ups,
        banks=rooms.bank.banks,
        look=reconciler.look_at,
        look_back=rooms.payouts.follow_up.look_back,
        now=rooms.kernel.now,
    )


def _missed_events(rooms: Rooms) -> MissedEvents:
    """Ask banks for the callbacks that they could not deliver."""
    return MissedEvents(
        providers=tuple(rooms.kernel.settings.providers),
        accounts=rooms.kernel.store.accounts,
        banks=rooms.bank.banks,
        reception=rooms.callbacks,
    )


def _request_log_writer(
    kernel: Kernel, telemetry: Telemetry, tally: AuditTally
) -> RequestLogWriter:
    """Write the request log; every request is counted for the audit log, written or not."""
    writer = RequestLogWriter(kernel.store.office.requests, kernel.observer.count)
    is_on = kernel.settings.telemetry.request_log
    telemetry.observer.kept = keeping(tally, writer.keep if is_on else None)
    return writer


def _store_gauges(kernel: Kernel, telemetry: Telemetry) -> StoreGauges:
    """Look up the gauges that no request changes."""
    identity = kernel.store.identity
    return StoreGauges(
        panels=identity.panels,
        keys=identity.signing_keys,
        approvals=kernel.store.office.approvals,
        outbox=identity.outbox,
        accounts=kernel.store.accounts,
        idle=timedelta(seconds=kernel.settings.session.idle_s),
        values=telemetry.values,
        now=kernel.now,
    )
