"""Retention: deletes records after their time."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Final

from gateway.app.store import Store
from gateway.banks.store import ProviderMinutes
from gateway.batches.store import BatchRecords
from gateway.callbacks.store import CallbackRecords
from gateway.closings.readings import forget_readings
from gateway.core.storage import StoreUnavailable
from gateway.deliveries.store import DeliveryRecords
from gateway.events.store import STORED_FOR, EventRecords
from gateway.identity.store import IdentityStore
from gateway.notifications.outages import Outages
from gateway.notifications.store import KEPT as NOTIFICATIONS_KEPT
from gateway.notifications.store import NotificationRecords
from gateway.outflow.store import KEPT, PAYEES_KEPT, OutflowRecords
from gateway.request_log.store import RequestRecords
from gateway.statements.model import local_day

_log: Final = logging.getLogger(__name__)

REQUESTS_KEPT: Final = timedelta(days=30)
"""A month of the request log: complaints of partners come within their monthly closing."""
CALLBACKS_KEPT: Final = timedelta(days=90)
"""A quarter, since banks are asked about callbacks later than partners about requests."""
BATCHES_KEPT: Final = timedelta(days=90)
"""A quarter, for whoever closes its books; the payouts themselves stay as long as others."""
DRAFTS_KEPT: Final = timedelta(days=30)
"""A month: nobody orders the wages of the month before from a draft."""

_IDENTITY_KEPT: Final = timedelta(days=7)
"""What has ended stays a week, so that the owner of an old token is told apart from a stranger."""
_LONGEST_IDLE: Final = timedelta(hours=1)
"""The most that ``session.idle_s`` may be: no browser session is deleted that may still go on."""


MINUTES_KEPT: Final = timedelta(days=8)
"""The longest window that is shown is a week; a day more for a clock that was wrong."""
READINGS_KEPT: Final = timedelta(days=400)
"""Readings of days: a year of months to look back at; signed days stay."""


async def delete_old_records(store: Store, events_kept: timedelta, now: datetime) -> int:
    """
    Delete old records, each kind after its own time; see the constants.

    Of files of payouts the payouts stay, of readings of days the signed days. Deliveries that wait
    for removed endpoints end.

    ``events_kept`` is how long events of payouts are kept. Returns the number of lines, callbacks
    and events of payouts.
    """
    database = store.database
    outflow = OutflowRecords(database)
    await _deleted("outflow hours", outflow.forget(now - KEPT))
    await _deleted("outflow payees", outflow.forget_payees(now - PAYEES_KEPT))
    readings_before = local_day(now - READINGS_KEPT)
    await _deleted("readings of days", forget_readings(database, readings_before))
    files = BatchRecords(database).forget(now - BATCHES_KEPT, now - DRAFTS_KEPT)
    await _deleted("files of payouts", files)
    await _deleted("minutes", ProviderMinutes(database).forget(now - MINUTES_KEPT))
    notifications = NotificationRecords(database)
    await _deleted("notifications", notifications.forget(now - NOTIFICATIONS_KEPT))
    await _deleted("outages of banks", Outages(database).forget(now - NOTIFICATIONS_KEPT))
    deliveries = DeliveryRecords(database)
    await _deleted("deliveries of removed endpoints", deliveries.drop(now))
    await _deleted("deliveries", deliveries.forget(now - STORED_FOR))
    await _deleted("events of accounts", EventRecords(database).forget(now - STORED_FOR))
    deleted = await _deleted("requests", RequestRecords(database).forget(now - REQUESTS_KEPT))
    deleted += await _deleted("callbacks", CallbackRecords(database).forget(now - CALLBACKS_KEPT))
    # The database refuses if the clock of this machine is a month ahead of its own.
    return deleted + await _deleted("events", store.payouts.forget_events(now - events_kept))


async def delete_old_sign_ins(store: IdentityStore, now: datetime) -> int:
    """
    Delete sessions, challenges, failed attempts and sent mail that ended a week ago.

    Idle browser sessions go too. Returns the number of sessions.
    """
    before = now - _IDENTITY_KEPT
    await _deleted("browser sessions", store.panels.forget(now - _LONGEST_IDLE, now))
    await _deleted("challenges", store.challenges.forget(before))
    await _deleted("failed attempts", store.failures.forget(before))
    await _deleted("mail", store.mailbox.forget(before))
    return await _deleted("sessions", store.sessions.forget(before))


async def _deleted(what: str, deleting: Awaitable[int]) -> int:
    """Delete; a failure is logged, does not stop other deletions, and is retried."""
    try:
        return await deleting
    except StoreUnavailable as problem:
        _log.warning("old %s could not be deleted: %s", what, problem)
        return 0
