"""The circuit breaker: a bank that fails is left alone for a while, then tried once."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from gateway.domain.kernel.clocks import Monotonic
from provider_adapters._shared.limits import BreakerLimits
from provider_adapters._shared.window import Tally


class BreakerState(StrEnum):
    """Whether calls pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


# Looking a member up by its name costs Python 3.11 a call each time.
_CLOSED: Final = BreakerState.CLOSED
_OPEN: Final = BreakerState.OPEN
_HALF_OPEN: Final = BreakerState.HALF_OPEN

Permit = int
"""Which state of the breaker let a call through; the result of an older one is not heard."""


class Breaker:
    """
    One breaker, for one provider and class of operation.

    ``admit`` before a call, then exactly one of ``worked``, ``failed`` and
    ``undecided`` with the permit. All times are seconds of ``clock``; ``chance``
    gives numbers from 0 up to 1; ``told`` hears every new state.
    """

    def __init__(
        self,
        limits: BreakerLimits,
        clock: Monotonic,
        chance: Callable[[], float],
        told: Callable[[BreakerState], None],
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._chance = chance
        self._told = told
        self._permit: Permit = 0
        self._openings = 0
        self._open_until = 0.0
        self._probing = False
        self.state: BreakerState = _CLOSED
        self._forget()

    def admit(self) -> Permit | None:
        """Let a call pass and return its permit; None when it must not be made."""
        if self.state is _OPEN and self._clock() >= self._open_until:
            self._become(_HALF_OPEN)
        if self.state is _CLOSED:
            return self._permit
        if self.state is _OPEN or self._probing:
            return None
        self._probing = True
        return self._permit

    def worked(self, permit: Permit) -> None:
        """Hear that the bank answered, be it with a "no"."""
        if permit != self._permit:
            return
        if self.state is _HALF_OPEN:
            self._openings = 0
            self._become(_CLOSED)
            return
        self._failures = self._rate_limits = 0
        self._tally.add(self._clock(), failed=False)

    def failed(self, permit: Permit, rate_limited_s: float | None = None) -> None:
        """Hear that the bank failed; ``rate_limited_s`` is its Retry-After, if it sent one."""
        if permit != self._permit:
            return
        now = self._clock()
        self._failures += 1
        self._rate_limits = 0 if rate_limited_s is None else self._rate_limits + 1
        self._tally.add(now, failed=True)
        asked = rate_limited_s if self._rate_limits >= self._limits.rate_limits else None
        if self.state is _HALF_OPEN or asked is not None or self._too_many():
            self._open(now, asked or 0.0)

    def undecided(self, permit: Permit) -> None:
        """Hear that the call was given up: it proves nothing, and a probe's place is free again."""
        if permit == self._permit:
            self._probing = False

    def _too_many(self) -> bool:
        """Say whether the failures seen are enough to open."""
        limits = self._limits
        if self._failures >= limits.consecutive:
            return True
        return self._tally.calls >= limits.calls and (
            self._tally.failures >= limits.share * self._tally.calls
        )

    def _open(self, now: float, at_least: float) -> None:
        """Stop calls, longer each time in a row."""
        limits = self._limits
        self._openings += 1
        wait = limits.open_s * self._openings * (1 + limits.jitter * (2 * self._chance() - 1))
        self._open_until = now + min(limits.longest_open_s, max(wait, at_least))
        self._become(_OPEN)

    def _become(self, state: BreakerState) -> None:
        """Change state; what older calls will tell no longer counts."""
        self.state = state
        self._permit += 1
        self._probing = False
        self._forget()
        self._told(state)

    def _forget(self) -> None:
        """Begin counting anew."""
        self._failures = 0
        self._rate_limits = 0
        self._tally = Tally(self._limits.window_s)
