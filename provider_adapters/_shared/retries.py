"""When a read is repeated: once, soon, and only while few others are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway.domain.bank.providers import ProviderError
from gateway.domain.kernel.clocks import Deadline
from provider_adapters._shared import faults
from provider_adapters._shared.limits import ClientLimits


class RetryBudget:
    """
    How many reads of one provider may be repeated; calls that move money never are.

    ``in_flight`` returns the provider's number of calls at the moment.
    """

    def __init__(
        self, limits: ClientLimits, random: Callable[[], float], in_flight: Callable[[], int]
    ) -> None:
        self._limits = limits
        self._random = random
        self._in_flight = in_flight
        self._running = 0

    def pause_after(self, failure: ProviderError, by: Deadline) -> float | None:
        """
        Return the seconds to wait before repeating; None when it must not be repeated.

        Only a lost connection is worth it: a bad answer is still the answer,
        and after a time-out no time is left.
        """
        if failure.reason not in faults.NO_ANSWER:
            return None
        if self._running >= max(1.0, self._limits.retry_share * self._in_flight()):
            return None
        pause = self._limits.retry_after_s + self._limits.retry_spread_s * self._random()
        return pause if pause < by.left() else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a repetition while it runs, including its pause."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
