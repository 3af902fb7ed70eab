"""The circuit breaker: a bank that fails gets no calls for a while, then one to try."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from gateway.domain.kernel.clocks import Monotonic
from provider_adapters._shared.limits import BreakerLimits


class BreakerState(StrEnum):
    """Whether calls are allowed."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


_SLICES: Final = 10

# Looking a member up by its name costs Python 3.11 a call each time.
_CLOSED: Final = BreakerState.CLOSED
_OPEN: Final = BreakerState.OPEN
_HALF_OPEN: Final = BreakerState.HALF_OPEN

Permit = int
"""The state of the breaker that allowed a call; results of calls from older states are ignored."""


class Breaker:
    """
    One breaker, for one provider and kind of call.

    Call ``admit`` before a call, then exactly one of ``succeeded``, ``failed``
    and ``abandoned`` with the permit. Times are seconds of ``clock``.
    ``random`` returns numbers from 0 up to 1, for jitter. ``on_state`` is
    called with every new state.
    """

    def __init__(
        self,
        limits: BreakerLimits,
        clock: Monotonic,
        random: Callable[[], float],
        on_state: Callable[[BreakerState], None],
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._random = random
        self._on_state = on_state
        self._permit: Permit = 0
        self._openings = 0
        self._open_until = 0.0
        self._probing = False
        self.state: BreakerState = _CLOSED
        self._reset()

    def admit(self) -> Permit | None:
        """Return a permit for one call; None when it must not be made."""
        if self.state is _OPEN and self._clock() >= self._open_until:
            self._enter(_HALF_OPEN)
        if self.state is _CLOSED:
            return self._permit
        if self.state is _OPEN or self._probing:
            return None
        self._probing = True
        return self._permit

    def succeeded(self, permit: Permit) -> None:
        """Record that the bank answered, even with a refusal."""
        if permit != self._permit:
            return
        if self.state is _HALF_OPEN:
            self._openings = 0
            self._enter(_CLOSED)
            return
        self._failures = self._rate_limits = 0
        self._recent.add(self._clock(), failed=False)

    def failed(self, permit: Permit, rate_limited_s: float | None = None) -> None:
        """Record that the bank failed; ``rate_limited_s`` is its Retry-After in seconds, if any."""
        if permit != self._permit:
            return
        now = self._clock()
        self._failures += 1
        self._rate_limits = 0 if rate_limited_s is None else self._rate_limits + 1
        self._recent.add(now, failed=True)
        asked = rate_limited_s if self._rate_limits >= self._limits.rate_limits else None
        if self.state is _HALF_OPEN or asked is not None or self._too_many():
            self._open(now, asked or 0.0)

    def abandoned(self, permit: Permit) -> None:
        """Record that the call was given up: it proves nothing, and a new probe may start."""
        if permit == self._permit:
            self._probing = False

    def _too_many(self) -> bool:
        """Return whether there were enough failures to open."""
        limits = self._limits
        if self._failures >= limits.consecutive:
            return True
        return self._recent.calls >= limits.calls and (
            self._recent.failures >= limits.share * self._recent.calls
        )

    def _open(self, now: float, at_least: float) -> None:
        """Stop calls, for longer each time in a row."""
        limits = self._limits
        self._openings += 1
        wait = limits.open_s * self._openings * (1 + limits.jitter * (2 * self._random() - 1))
        self._open_until = now + min(limits.longest_open_s, max(wait, at_least))
        self._enter(_OPEN)

    def _enter(self, state: BreakerState) -> None:
        """Change state; results of calls from before no longer count."""
        self.state = state
        self._permit += 1
        self._probing = False
        self._reset()
        self._on_state(state)

    def _reset(self) -> None:
        """Start counting from zero."""
        self._failures = 0
        self._rate_limits = 0
        self._recent = RecentCalls(self._limits.window_s)


class RecentCalls:
    """
    How many calls there were in the last ``span_s`` seconds, and how many failed.

    The memory is fixed: counts are kept in ten slices that are dropped whole,
    so a call may be dropped up to a tenth of the span early.
    """

    __slots__ = ("_newest", "_slice_s", "_slices", "calls", "failures")

    def __init__(self, span_s: float) -> None:
        self._slice_s = span_s / _SLICES
        self._slices = [[0, 0] for _ in range(_SLICES)]
        self._newest = 0
        self.calls = 0
        self.failures = 0

    def add(self, now: float, *, failed: bool) -> None:
        """Count a call that ended at ``now``: seconds of a monotonic clock."""
        newest = int(now / self._slice_s)
        if newest != self._newest:
            self._advance(newest)
        counted = self._slices[newest % _SLICES]
        counted[0] += 1
        self.calls += 1
        if failed:
            counted[1] += 1
            self.failures += 1

    def _advance(self, newest: int) -> None:
        """Drop the slices that are too old."""
        for at in range(max(self._newest + 1, newest - _SLICES + 1), newest + 1):
            old = self._slices[at % _SLICES]
            self.calls -= old[0]
            self.failures -= old[1]
            old[0] = old[1] = 0
        self._newest = newest
