"""When a read is asked a second time: once, soon, and only while few others are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.domain.bank.providers import ProviderError
from gateway.domain.kernel.clocks import Deadline
from provider_adapters._shared import faults
from provider_adapters._shared.limits import ClientLimits


class Repetition:
    """
    The repetition budget of one provider; money calls never come near it.

    ``in_flight`` tells how many calls the provider has at the moment.
    """

    def __init__(
        self, limits: ClientLimits, chance: Callable[[], float], in_flight: Callable[[], int]
    ) -> None:
        self._limits = limits
        self._chance = chance
        self._in_flight = in_flight
        self._running = 0

    def pause_after(self, failure: ProviderError, by: Deadline) -> float | None:
        """
        Return the seconds to wait before repeating; None when it must not be.

        Only a lost connection is worth it. An answer, even a bad one, is the
        answer, and after a time-out no time is left.
        """
        if failure.reason not in faults.NO_ANSWER:
            return None
        if self._running >= max(1.0, self._limits.retry_share * self._in_flight()):
            return None
        pause = self._limits.retry_after_s + self._limits.retry_spread_s * self._chance()
        return pause if pause < by.left() else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a repetition while it lasts, its pause included."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
