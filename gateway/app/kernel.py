"""The kernel: settings, store, keys and clocks that all services share."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from gateway.app.store import Store
from gateway.config.settings import Settings
from gateway.core.allowances import Allowance
from gateway.core.clocks import Monotonic, Now
from gateway.core.limits import SharedLimits
from gateway.core.storage import Writes
from gateway.identity.context import IdentityEvents
from gateway.net.common.runtime import Failpoint
from gateway.security.keys import Keys
from gateway.store.kernel.clock import DatabaseClock
from gateway.telemetry.ports import Event
from gateway.telemetry.records import RequestObserver

if TYPE_CHECKING:  # an extra
    from gateway.telemetry.tracing import Tracing


class SilentObserver:
    """A ``RequestObserver`` that ignores everything: commands keep no metrics."""

    def ignore(self, *_given: object, **_named: object) -> None:
        """Do nothing."""

    provider_call = breaker = provider_retry = in_flight = certificate = count = ignore
    request = authenticated = unsettled = show = payout_ended = money = callback = ignore


_SILENT: Final = SilentObserver()
_NO_EVENTS: Final = IdentityEvents()


def new_id() -> str:
    """Make a UUID."""
    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """
    Settings, store, keys, clocks, ids and observers.

    Attributes:
        observer: Counts requests and bank calls.
        events: Receives sign-ins and sessions.
        new_id: Makes a UUID.
        reloads: Callbacks that receive reloaded settings.
        shared: Limits that all processes share; None for a single process.
        failpoint: Called at each fail point of a payout; None if none is armed.
        clock: The database's clock; None in commands.
        writes: The result of the last trial write; commands try none.
        tracing: Records spans; None where the configuration names no collector.
    """

    settings: Settings
    store: Store
    keys: Keys
    now: Now
    observer: RequestObserver = _SILENT
    events: IdentityEvents = _NO_EVENTS
    monotonic: Monotonic = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    new_id: Callable[[], str] = new_id
    reloads: list[Callable[[Settings], None]] = field(default_factory=list)
    shared: SharedLimits | None = None
    failpoint: Failpoint | None = None
    clock: DatabaseClock | None = None
    writes: Writes = field(default_factory=Writes)
    tracing: Tracing | None = None

    @property
    def shared_now(self) -> Now:
        """
        The clock that all processes on the store share.

        Payouts are written by it, and due times and leases are judged by it.
        Without a server it is ``now``.
        """
        return self.now if self.clock is None else self.clock.now

    def allowance(self, name: str) -> Allowance:
        """Build the token buckets of a name in ``ratelimits``, which follow reloaded settings."""
        rate = getattr(self.settings.ratelimits, name)
        count = partial(self.observer.count, Event.QUOTA)
        made = Allowance(name, rate, self.monotonic, count, self.shared)
        self.reloads.append(lambda fresh: made.change(getattr(fresh.ratelimits, name)))
        return made

    def is_in_step(self) -> bool:
        """Return whether our clock agrees with the shared one; else no work is claimed."""
        return self.clock is None or self.clock.is_in_step()
