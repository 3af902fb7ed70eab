"""
Clocks, randomness, sleep and deadlines as parameters, so that tests control them.

One timer serves many deadlines: setting it later costs no work on the loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from random import SystemRandom
from typing import Final, Protocol, TypeVar

from gateway.core.clocks import Monotonic, Now
from gateway.core.limits import SharedLimits
from gateway.net.common.names import HostNames

Failpoint = Callable[[str], None]
"""Called with the name of a point that a payout passes; it may end the process there."""
Carrier = TypeVar("Carrier")


class Traced(Protocol):
    """Gives each call that ``carrier`` makes of the bank at ``address`` a span."""

    def __call__(self, address: str, carrier: Carrier, /) -> Carrier:
        """Return the transport for the calls from now on."""
        ...


def untraced(_address: str, carrier: Carrier, /) -> Carrier:
    """Return the carrier unchanged: no spans are recorded."""
    return carrier


def unarmed(_point: str) -> None:
    """Pass a fail point: none is armed."""


def utc_now() -> datetime:
    """Read the wall clock."""
    return datetime.now(UTC)


chance: Final[Callable[[], float]] = SystemRandom().random
"""
Numbers from 0 up to 1, as a start hands them out; not fit for tests that stand still.

Of the system: a generator that the process shares is everybody's state, a forked process has
a copy of it, and all would wait equally long.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """
    A proxy that connects us by CONNECT; it cannot read the traffic.

    Attributes:
        authorization: The value of ``Proxy-Authorization``; empty for a proxy that requires none.
    """

    host: str
    port: int
    authorization: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """
    External dependencies of a bank's client.

    Attributes:
        random: Numbers from 0 up to 1. Spreads pauses; not fit for secrets.
        sleep: Waits that many seconds.
        on_certificate: Called with the end of our certificate's validity, whenever
            a certificate was read.
        names: The bank's host names; all its connections share their addresses.
        proxy: The proxy that connects to the bank; None for a direct connection.
        shared: Limits that all processes count together; None where this one is alone.
        failpoint: Only in tests that end the process at a given point.
        traced: Wraps the transport of requests to a bank.
    """

    clock: Monotonic = time.monotonic
    now: Now = utc_now
    random: Callable[[], float] = chance
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    on_certificate: Callable[[datetime], None] | None = None
    names: HostNames = field(default_factory=HostNames)
    proxy: Proxy | None = None
    shared: SharedLimits | None = None
    failpoint: Failpoint | None = None
    traced: Traced = untraced


# The loop's timers are as exact as this. A timer that fires a moment early is in time.
_RESOLUTION_S: Final = 0.001


class LazyTimer:
    """
    Calls ``on_late`` once when the deadline that was set last has passed.

    A connection moves its deadline with every request. Most of the time the new
    deadline is later than the timer that already runs, so nothing is scheduled:
    that timer looks again when it fires. Only a deadline that is sooner than the
    running timer schedules another one.
    """

    __slots__ = ("_at", "_context", "_fires_at", "_loop", "_on_late", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, on_late: Callable[[], None]) -> None:
        self._loop = loop
        self._on_late = on_late
        # The current context belongs to one request; the timer would keep it alive.
        self._context = Context()
        self._at = inf
        self._fires_at = inf
        self._timer: asyncio.TimerHandle | None = None

    def set_in(self, seconds: float) -> None:
        """Replace the deadline: ``seconds`` from now."""
        self.set_at(self._loop.time() + seconds)

    def set_at(self, at: float) -> None:
        """Replace the deadline: a reading of the loop's clock, in seconds."""
        self._at = at
        if at < self._fires_at:
            self._schedule()

    def clear(self) -> None:
        """Remove the deadline; a running timer will find none and end."""
        self._at = inf

    def cancel(self) -> None:
        """Remove the deadline and the running timer."""
        self._at = self._fires_at = inf
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def dispose(self) -> None:
        """Cancel for good. Drops ``on_late``, so that its owner can be freed at once."""
        self.cancel()
        del self._on_late

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._loop.call_at(self._at, self._fire, context=self._context)

    def _fire(self) -> None:
        """Call ``on_late``, or wait for the current deadline."""
        self._timer = None
        self._fires_at = inf
        if self._at == inf:
            return
        if self._at > self._loop.time() + _RESOLUTION_S:
            self._schedule()
            return
        self._at = inf
        self._on_late()
