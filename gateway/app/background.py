"""The periodic tasks of a process, with their schedules: of a server process, a worker, or both."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from gateway.app.build_identity import build_sender
from gateway.app.build_payouts import build_reconciler
from gateway.app.build_telemetry import Telemetry
from gateway.app.build_tracing import traced_follow_up
from gateway.app.gauges import AuditGauge, StoreGauges
from gateway.app.kept_records import EVERY_S, PATIENCE_S, ChangeFeed, within
from gateway.app.kernel import Kernel
from gateway.app.retention import delete_old_records, delete_old_sign_ins
from gateway.app.services import Services
from gateway.app.store_check import StoreCheck
from gateway.audit.log import AuditTally, keeping
from gateway.audit.store import StoredAudit
from gateway.banks.store import ProviderMinutes, ProviderMinuteWriter
from gateway.callbacks.owners import CallbackAccounts
from gateway.callbacks.processing import CallbackProcessor
from gateway.callbacks.registrations import MissedEvents
from gateway.callbacks.store import CallbackRecords
from gateway.closings.foreign_debits import DebitWatch
from gateway.core.key_rotation import LiveProcess
from gateway.credentials.expiry import ExpiryWatch
from gateway.deliveries.places import Places
from gateway.deliveries.sender import Sender
from gateway.deliveries.store import DeliveryRecords
from gateway.deliveries.watch import EVERY_S as ENDPOINTS_EVERY_S
from gateway.deliveries.watch import EndpointWatch
from gateway.deliveries.worker import DeliveryWorker, Work
from gateway.events.waiting import EVERY_S as EVENTS_EVERY_S
from gateway.identity.mail import MailSender, sending
from gateway.net.common.runtime import chance, unarmed
from gateway.notifications.calls import Called, CallSender, CallTask, Channel
from gateway.notifications.chat import ChatChannel
from gateway.notifications.push import PushChannel
from gateway.notifications.watch import EVERY_S as NOTIFICATIONS_EVERY_S
from gateway.payouts.reconciler import Reconciler
from gateway.process.leases import LeasedTasks, RunOnce, WorkerWatch
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.process.process import Part
from gateway.process.registration import SERVES, WORKS, Registration
from gateway.store.kernel.address import address, is_sqlite
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Key
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.ports import Event, Gauge

_SECOND_S: Final = 1.0
_ENDS_OF_FILES_S: Final = 10.0
"""People who watch the page of a file see its end soon."""
_SCRAPE_S: Final = 15.0
"""The usual interval of a scrape: no gauge is older than two of them."""
_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0
_EACH_MINUTE: Final = Schedule(every_s=_MINUTE_S, delayed=True, finishing=True)
_MISSED: Final = Schedule(every_s=300.0, delayed=True)
"""Banks give up after minutes to hours; an event is stored once."""
_EACH_SECOND: Final = Schedule(every_s=_SECOND_S, finishing=True)
_CALLBACKS: Final = Schedule(every_s=0.5)
"""A callback wakes the worker of its own process; a worker apart looks."""
_READ_FEEDS: Final = Schedule(every_s=5.0, finishing=True)
_BY_THE_CLOCK: Final = Schedule(every_s=_SECOND_S, finishing=True)
"""Reset links, so that the duration of an answer tells nobody who exists."""
_PRESENCE: Final = Schedule(every_s=10.0)
"""Thrice in a lease: those of other tasks end in between, mail's while its server fails."""
_OLD_SIGN_INS_S: Final = 600.0
"""Often enough that a run deletes little at once."""
_AUDIT_WALK: Final = (100, 0.05)
"""Events verified at a time, and the seconds between: about 2 ms of work, then others' requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """
    The share of background work that this process does.

    Attributes:
        watch: Looks for a live worker, if this process is not a worker itself.
        registration: Its entry among the live processes.
        minutes: Writes the results of its bank calls, minute by minute.
        store_check: Tries writes, and compares its clock with the store's.
    """

    part: Part
    leases: LeasedTasks
    watch: WorkerWatch
    registration: Registration
    minutes: ProviderMinuteWriter
    store_check: StoreCheck

    def has_worker(self) -> bool:
        """Return whether a live worker is known, this process included."""
        return self.part.works or not self.watch.absent


def build_role(kernel: Kernel, part: Part, values: MetricRegistry, check: StoreCheck) -> Role:
    """Build a process's role; a SQLite store has one process, which needs no lease."""
    store, now = kernel.store, kernel.shared_now
    kind = SERVES if part.serves else WORKS
    name = f"{kind} {os.getpid()} on {socket.gethostname()}"
    process = LiveProcess(id=kernel.new_id(), name=name, keys=kernel.keys.ids)
    leases = None if is_sqlite(address(store.url)) else store.leases
    show = partial(kernel.observer.show, Gauge.WORKER_ABSENT)
    return Role(
        part=part,
        leases=LeasedTasks(leases, kernel.new_id(), now, kernel.is_in_step),
        watch=WorkerWatch(store.leases, now, show),
        registration=Registration(store.processes, process, now, kernel.shared),
        minutes=ProviderMinuteWriter(
            ProviderMinutes(store.database), values, process.id, kernel.now
        ),
        store_check=check,
    )


def periodic_tasks(
    services: Services, telemetry: Telemetry, tally: AuditTally, wake: asyncio.Event, role: Role
) -> Sequence[PeriodicTask]:
    """Return the periodic tasks, the change feed first; ``wake`` is set when a callback arrives."""
    tasks = [
        *_everywhere(services, telemetry, role),
        PeriodicTask("processes", role.registration.renew, _PRESENCE),
    ]
    if role.part.serves:
        tasks += _beside_requests(services, telemetry, tally, role)
    if role.part.works:
        tasks += _work(services, telemetry, wake, role.leases)

    watched = (*tasks, telemetry.lag.task)

    async def show_failing() -> None:
        """Export how long the runs of each task have failed."""
        for each in watched:
            telemetry.values.child(series.TASK_FAILING, each.name).set(each.failing_s)

    def success_ages() -> Mapping[Key, float]:
        ages = ((each.name, each.success_age_s) for each in watched)
        return {(name,): age_s for name, age_s in ages if age_s is not None}

    telemetry.values.read(series.TASK_SUCCESS_AGE, success_ages)
    return [*tasks, PeriodicTask("tasks", show_failing, Schedule(every_s=_SCRAPE_S))]


def _everywhere(services: Services, telemetry: Telemetry, role: Role) -> Sequence[PeriodicTask]:
    """Return the tasks that every process runs for itself."""
    kernel, task = services.kernel, PeriodicTask
    # the changes of other processes
    read = within(PATIENCE_S, kernel.store.changes.read)
    feed = ChangeFeed(read, services.kept, kernel.monotonic)
    telemetry.values.read(series.CHANGE_FEED_AGE, lambda: {(): feed.age_s()})
    telemetry.values.read(series.RECORDS_BELIEVED, lambda: {(): feed.is_believed()})

    async def show_cache() -> None:
        """Export the size of this process's cache."""
        kernel.observer.show(Gauge.CACHE_BYTES, await services.cache.size())

    return (
        task("change feed", feed.run_once, Schedule(every_s=EVERY_S)),
        task("cache", show_cache, Schedule(every_s=_SCRAPE_S)),
        task("store", role.store_check.run_once, Schedule(every_s=_SECOND_S)),
        task("charges", services.charges.reads.kept.notes.run_once, _EACH_SECOND),
        task("provider minutes", role.minutes.run_once, _EACH_MINUTE),
    )


def _beside_requests(
    services: Services, telemetry: Telemetry, tally: AuditTally, role: Role
) -> Sequence[PeriodicTask]:
    """
    Return the tasks that follow the requests this process answers.

    Each request is counted for the audit log, whether its line is kept or not.
    """
    kernel, task, readings = services.kernel, PeriodicTask, services.readings
    is_on = kernel.settings.telemetry.request_log
    kept = keeping(tally, services.request_lines.keep if is_on else None)
    telemetry.observer.kept = kernel.tracing.ending(kept) if kernel.tracing else kept
    tasks = [
        task("audit tally", tally.run_once, Schedule(every_s=_MINUTE_S, finishing=True)),
        task("request log", services.request_lines.run_once, _EACH_SECOND),
        task("readings", readings.turn, Schedule(every_s=_MINUTE_S), readings.wake),
        services.uses.task,
        task("waiting events", services.event_feed.waits.turn, Schedule(every_s=EVENTS_EVERY_S)),
        task("feed readers", services.feed_readers.write, _READ_FEEDS),
        task("reset links", services.identity.reset_requests.answer, _BY_THE_CLOCK),
    ]
    if not role.part.works:
        tasks.append(task("worker", role.watch.run_once, Schedule(every_s=_SCRAPE_S)))
    return tasks


def _work(
    services: Services, telemetry: Telemetry, wake: asyncio.Event, leases: LeasedTasks
) -> Sequence[PeriodicTask]:
    """
    Return the tasks that no request waits for.

    Payouts and callbacks are claimed row by row, and every process exports gauges; the other tasks
    run under leases.
    """
    kernel, task, values = services.kernel, PeriodicTask, telemetry.values
    follow_up = traced_follow_up(kernel.tracing, services.payouts.follow_up)
    store, idle_s = kernel.store, kernel.settings.session.idle_s
    store.follow_ups.on_unreadable = partial(kernel.observer.count, Event.PAYOUT_UNREADABLE)
    reconciler = build_reconciler(
        kernel,
        follow_up,
        services.hold_ends,
        services.kept.accounts.find,
        services.banks.followup_rate_of,
    )
    deliveries = DeliveryWorker(
        Work(
            records=DeliveryRecords(store.database),
            endpoints=services.endpoint_records,
            sender=build_sender(kernel),
            places=Places(kernel.monotonic, chance),
            now=kernel.shared_now,
            owner=kernel.new_id(),
            chance=chance,
            may_claim=kernel.is_in_step,
            count=kernel.observer.count,
            failpoint=kernel.failpoint or unarmed,
        )
    )
    callbacks = CallbackProcessor(
        store=CallbackRecords(store.database),
        owners=CallbackAccounts(store.accounts, services.banks),
        accounts=store.accounts,
        follow_ups=store.follow_ups,
        banks=services.banks,
        look=reconciler.look_at,
        look_back=follow_up.look_back,
        paid=services.charges.reads.kept.store,
        refunded=services.refund_records.note,
        now=kernel.shared_now,
        processed=deliveries.wake,
        may_claim=kernel.is_in_step,
    )
    gauges = StoreGauges(
        store=store,
        idle_s=idle_s,
        values=values,
        now=kernel.shared_now,
        walks_payments=kernel.settings.events.walk_every_s > 0,
        reconciles_days=kernel.settings.closings.every_s > 0,
    )
    audit = AuditGauge(audit=StoredAudit(store.database, *_AUDIT_WALK), values=values)
    return (
        reconciler.task,
        task("callbacks", callbacks.turn, _CALLBACKS, wake),
        deliveries.task,
        task(
            "notifications",
            leases.leased("notifications", services.notification_watch.turn),
            Schedule(every_s=NOTIFICATIONS_EVERY_S),
            services.notification_wake,
        ),
        *_calls(services, leases),
        task("gauges", gauges.run_once, Schedule(every_s=_SCRAPE_S)),
        task("audit", audit.run_once, Schedule(every_s=_HOUR_S)),
        *(
            task(name, leases.leased(name, run), when)
            for name, run, when in _leased(services, reconciler)
        ),
    )


def _calls(services: Services, leases: LeasedTasks) -> Iterator[PeriodicTask]:
    """Return the tasks that send by ways that are calls, each with connections of its own."""
    watch, kernel = services.notification_watch, services.kernel
    push, chats = build_sender(kernel), build_sender(kernel)
    to_browsers = PushChannel(
        everybody=watch.recipients,
        subscriptions=services.push_subscriptions,
        sender=push,
        signer=services.push_signer,
        origin=watch.origin,
        now=kernel.shared_now,
    )
    to_chats = ChatChannel(
        everybody=watch.recipients,
        chats=services.chat_records,
        sender=chats,
        origin=watch.origin,
    )
    yield _call_task("push", to_browsers, push, services, leases)
    yield _call_task("chats", to_chats, chats, services, leases)


def _call_task(
    name: str,
    channel: Channel[Called],
    sender: Sender,
    services: Services,
    leases: LeasedTasks,
) -> PeriodicTask:
    watch, kernel = services.notification_watch, services.kernel
    calls = CallSender(
        channel=channel,
        occasions=watch.recipients.occasions,
        records=watch.records,
        now=kernel.shared_now,
        chance=chance,
        count=kernel.observer.count,
    )
    wake = services.call_wakes[channel.way]
    return CallTask(name, leases.leased(name, calls.turn), sender, wake)


def _leased(services: Services, reconciler: Reconciler) -> Iterator[tuple[str, RunOnce, Schedule]]:
    """Return the tasks that one worker runs for all: name, work and schedule."""
    kernel, store = services.kernel, services.kernel.store
    mailbox, server = services.identity.context.stores.mailbox, kernel.settings.identity.mail
    events_kept = timedelta(days=kernel.settings.payouts.events_kept_days)
    missed = MissedEvents(
        providers=tuple(kernel.settings.providers),
        accounts=store.accounts,
        banks=services.banks,
        reception=services.reception,
    )
    minutely, hourly = Schedule(every_s=_MINUTE_S), Schedule(every_s=_HOUR_S)
    if services.outflows.config.is_on:
        every = Schedule(every_s=kernel.settings.outflow.every_s)
        yield "outflow guard", services.outflow_guard.turn, every
    yield from _of_movements(services)
    yield "presence", _nothing, _PRESENCE
    yield "recall", reconciler.recall, Schedule(every_s=_MINUTE_S, delayed=True)
    yield "mail", MailSender(mailbox, server, kernel.now).run_once, sending(server)
    yield "missed events", missed.turn, _MISSED
    yield from _of_people(services, minutely)
    yield "figures", services.overviews.remember, minutely
    yield "endpoints", _endpoint_watch(services).turn, Schedule(every_s=ENDPOINTS_EVERY_S)
    yield "expiring credentials", ExpiryWatch(store.database, kernel.now).turn, hourly
    yield (
        "old sign-ins",
        lambda: delete_old_sign_ins(store.identity, kernel.now()),
        Schedule(every_s=_OLD_SIGN_INS_S),
    )
    yield from _of_sandbox(services, hourly)
    yield "retention", lambda: delete_old_records(store, events_kept, kernel.now()), hourly


def _of_movements(services: Services) -> Iterator[tuple[str, RunOnce, Schedule]]:
    """Return the tasks that read movements of accounts at their banks."""
    kernel, store, config = services.kernel, services.kernel.store, services.kernel.settings
    if every_s := config.payouts.foreign_debits_every_s:
        debits = DebitWatch(
            providers=tuple(config.providers),
            accounts=store.accounts,
            statements=services.statements,
            database=store.database,
            now=kernel.now,
        )
        yield "foreign debits", debits.turn, Schedule(every_s=every_s, delayed=True)
    if every_s := config.events.walk_every_s:
        yield "payment walks", services.payment_walks.turn, Schedule(every_s=every_s, delayed=True)
    if every_s := config.closings.every_s:
        yield "days", services.reconciliation.turn, Schedule(every_s=every_s, delayed=True)


def _of_people(services: Services, when: Schedule) -> Iterator[tuple[str, RunOnce, Schedule]]:
    """Return what becomes of people's orders."""
    yield "approvals", services.approvals.expire, when
    yield "files of payouts", services.batch_worker.turn, Schedule(every_s=_SECOND_S)
    yield "ends of files", services.batch_worker.end_decided, Schedule(every_s=_ENDS_OF_FILES_S)


def _of_sandbox(services: Services, when: Schedule) -> Iterator[tuple[str, RunOnce, Schedule]]:
    """Return the end of accounts that partners opened, also where none can be opened any more."""
    if services.self_service is not None:
        yield "sandbox accounts", services.self_service.close_ended, when


def _endpoint_watch(services: Services) -> EndpointWatch:
    return EndpointWatch(
        records=DeliveryRecords(services.kernel.store.database),
        endpoints=services.endpoint_records,
        now=services.kernel.shared_now,
        random=os.urandom,
        tell=services.endpoint_notices.tell,
    )


async def _nothing() -> None:
    """Do nothing: the lease alone shows server processes that a worker is alive."""
