"""May another request be served at all?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.telemetry.ports import Count, Event


@dataclass(slots=True, kw_only=True)
class Admission:
    """
    Sheds requests while the process is overloaded.

    Attributes:
        most: Requests in flight above which new ones are refused.
        longest_lag_s: The p95 of event-loop lag, in seconds, above which too.
        lag_s: Tells that p95 now.
        count: Counts what was shed.
    """

    most: int
    longest_lag_s: float
    lag_s: Callable[[], float]
    count: Count
    in_flight: int = 0

    def check(self) -> None:
        """
        Let one more request in.

        Raises:
            ServiceError: ``SVC.GTW.006`` with ``Retry-After`` when overloaded.
        """
        if self.in_flight > self.most:
            self._shed("in_flight")
        if self.lag_s() > self.longest_lag_s:
            self._shed("loop_lag")

    def _shed(self, reason: str) -> NoReturn:
        """Count and refuse."""
        self.count(Event.SHED, reason)
        raise ServiceError(errors.OVERLOADED, reason, {"Retry-After": "1"})
