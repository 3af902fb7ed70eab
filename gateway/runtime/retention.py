"""Retention: what is kept for a limited time, and deleted after it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.domain.backoffice.callbacks import Callbacks
from gateway.domain.backoffice.request_log import RequestLog
from gateway.domain.backoffice.weather import ProviderMinutes
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.events import PayoutEvents
from gateway.store.identity.stores import IdentityStore

_log: Final = logging.getLogger(__name__)

REQUESTS_KEPT: Final = timedelta(days=30)
"""A month of the request log: complaints of partners come within their monthly closing."""
CALLBACKS_KEPT: Final = timedelta(days=90)
"""A quarter, since banks are asked about callbacks later than partners about requests."""

_IDENTITY_KEPT: Final = timedelta(days=7)
"""What has ended stays a week, so that the owner of an old token is told apart from a stranger."""
_LONGEST_IDLE: Final = timedelta(hours=1)
"""The most that ``session.idle_s`` may be: no browser session is deleted that may still go on."""


MINUTES_KEPT: Final = timedelta(days=8)
"""The longest window that is shown is a week; a day more for a clock that was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackofficeRetention:
    """
    Deletes old lines of the request log, callbacks, minutes of providers and events of payouts.

    Attributes:
        events_kept: How long what happened to payouts is kept.
    """

    requests: RequestLog
    callbacks: Callbacks
    provider_minutes: ProviderMinutes
    events: PayoutEvents
    events_kept: timedelta
    now: Now

    async def cleanup(self) -> int:
        """Delete; return how many lines, callbacks and events."""
        now = self.now()
        await _deleted("minutes", self.provider_minutes.forget(now - MINUTES_KEPT))
        deleted = await _deleted("requests", self.requests.forget(now - REQUESTS_KEPT))
        deleted += await _deleted("callbacks", self.callbacks.forget(now - CALLBACKS_KEPT))
        # The database refuses if the clock of this machine is a month ahead of its own.
        return deleted + await _deleted("events", self.events.forget(now - self.events_kept))


@dataclass(frozen=True, slots=True)
class IdentityRetention:
    """Deletes sessions, challenges, failed attempts and sent mail that ended long ago."""

    store: IdentityStore
    now: Now

    async def cleanup(self) -> int:
        """Delete what ended a week ago, and idle browser sessions; return how many sessions."""
        store, now = self.store, self.now()
        before = now - _IDENTITY_KEPT
        await _deleted("browser sessions", store.panels.forget(now - _LONGEST_IDLE, now))
        await _deleted("challenges", store.challenges.forget(before))
        await _deleted("failed attempts", store.failures.forget(before))
        await _deleted("mail", store.outbox.forget(before))
        return await _deleted("sessions", store.sessions.forget(before))


async def _deleted(what: str, deleting: Awaitable[int]) -> int:
    """Delete; what cannot be deleted now is logged, keeps nothing else, and is tried again."""
    try:
        return await deleting
    except StoreUnavailable as problem:
        _log.warning("old %s could not be deleted: %s", what, problem)
        return 0
