"""
Admission: sheds requests under overload.

Callers who are not known yet can make us wait for a body, which costs them nothing. Such
requests have places of their own, some for each route: slow bodies at the sign-in take none from
the refresh, and none from callbacks, which want a secret address before a place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NoReturn

from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.core.networks import network
from gateway.telemetry.ports import Count, Event

# Of what may be in flight: banks and people who sign in send small bodies, and at once.
_SHARE: Final = 10
# Enough for a bank that tells of several payouts, however small the process is.
_LEAST: Final = 10
# Of these places one network has so many at most: it takes four to fill them.
_NETWORK_SHARE: Final = 4


@dataclass(slots=True, kw_only=True)
class Admission:
    """
    Sheds requests while the process is overloaded.

    Attributes:
        most: Requests in flight above which new ones are refused.
        longest_lag_s: The p95 of event-loop lag, in seconds, above which too.
        lag_s: Returns that p95 now.
        count: Counts what was shed.
        in_flight: Now, without those that wait for the body of an unidentified caller.
        strangers: These, by route and by the network that they come from.
    """

    most: int
    longest_lag_s: float
    lag_s: Callable[[], float]
    count: Count
    in_flight: int = 0
    strangers: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def in_all(self) -> int:
        """Number of requests being served, unauthenticated ones included."""
        return self.in_flight + sum(each.total() for each in self.strangers.values())

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

    @contextmanager
    def waits_for_stranger(self, route: str, address: str) -> Iterator[None]:
        """
        Count a request apart while it waits for an unauthenticated caller's body.

        Raises:
            ServiceError: ``SVC.GTW.006`` with ``Retry-After`` when all such places of
                the route are taken, or those of the caller's network.
        """
        places, place = max(_LEAST, self.most // _SHARE), network(address)
        waiting = self.strangers[route]
        if waiting.total() >= places or waiting[place] >= places // _NETWORK_SHARE:
            self._shed("strangers")
        waiting[place] += 1
        self.in_flight -= 1
        try:
            yield
        finally:
            self.in_flight += 1
            waiting[place] -= 1
            if not waiting[place]:
                del waiting[place]

    def _shed(self, reason: str) -> NoReturn:
        """Count the shed request, and refuse it."""
        self.count(Event.SHED, reason)
        raise ServiceError(errors.OVERLOADED, reason, {"Retry-After": "1"})
