"""
Admission: sheds requests under overload, the least important classes first.

Each class of routes has places of its own, so that none can take the last place of another, and a
lag of the event loop above which it is shed. Those of people and strangers are shed above a wait
for the store, too, and their requests wait two seconds for a place, or until loop and store have
caught up.
Callers who are not known yet can make us wait for a body, which costs them nothing. Such requests
have places for each route: slow bodies at the sign-in take none from the refresh, and none from
callbacks, which want a secret address before a place.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import Final, NamedTuple, NoReturn, Protocol

from gateway.core import errors
from gateway.core.bank_calls import NoTurn
from gateway.core.errors import ServiceError
from gateway.core.networks import network
from gateway.core.priority import Priority
from gateway.telemetry.ports import Count, Event


class Limits(NamedTuple):
    """
    The limits of a class.

    Attributes:
        share: Its part of ``limits.in_flight``.
        most: Its places at any number of cores: requests of people keep one core busy, and
            waits for no bank while it holds a place.
        lag: Of the event loop, in times ``limits.loop_lag_s``.
        store_wait: A wait for a connection to the store, in the same times. Payouts and partners
            are never refused for it: the others make room for them.
        waits: Whether a request waits for a place or for the lag to end before it is refused.
            Who asks again at once would else keep the process as busy as if it were served.
    """

    share: float
    lag: float
    most: float = inf
    store_wait: float = inf
    waits: bool = True


LIMITS: Final[Mapping[Priority, Limits]] = {
    Priority.ALWAYS: Limits(share=inf, lag=inf, waits=False),
    Priority.PAYOUTS: Limits(share=0.5, lag=8, waits=False),
    Priority.STOPS: Limits(share=0.02, lag=8, most=2),
    Priority.PARTNERS: Limits(share=0.33, lag=2, waits=False),
    Priority.PAGES: Limits(share=0.04, lag=0.4, most=4, store_wait=0.8),
    Priority.HEAVY: Limits(share=0.01, lag=0.2, most=2, store_wait=0.4),
    Priority.STRANGERS: Limits(share=0.1, lag=0.2, store_wait=0.8),
}
# Looking a member up by its name costs Python 3.11 a call each time.
_STRANGERS: Final = Priority.STRANGERS
# Of what may be in flight: banks and people who sign in send small bodies, and at once.
_SHARE: Final = 10
# Enough for a bank that tells of several payouts, however small the process is.
_LEAST: Final = 10
# Of these places one network has so many at most: it takes four to fill them.
_NETWORK_SHARE: Final = 4
_FULL: Final = "in_flight"
_LATE: Final = "loop_lag"
_STORE: Final = "store_wait"
_RETRY_S: Final = 1
_WAIT_S: Final = 2.0
_AT_BANK: Final = 8
"""Calls of people at one bank at once; by default an eighth of its places."""


def _places(given: Limits, most: int) -> float:
    """Return the places of a class, one at least; ``inf`` for no limit."""
    return inf if given.share == inf else max(1, round(min(given.share * most, given.most)))


class Lag(Protocol):
    """
    Measures event loop and store.

    Attributes:
        p95_s: The lag of the event loop now, in seconds.
        store_wait_s: The wait for the store now, in seconds.
    """

    p95_s: float
    store_wait_s: float


class Shed(ServiceError):
    """
    A request that is shed.

    Attributes:
        hold_s: How long its answer is held back, in seconds.
    """

    def __init__(self, reason: str, hold_s: float = 0.0) -> None:
        """Give the reason, for log and metrics."""
        super().__init__(errors.OVERLOADED, reason, {"Retry-After": str(_RETRY_S)})
        self.hold_s = hold_s


class Admission:
    """
    Sheds requests while the process is overloaded.

    Attributes:
        held: Requests in flight by class, without requests that wait for the body of an
            unidentified caller, or for a bank on behalf of a person.
        places: The most of each class.
        strangers: Requests that wait for such a body, by route and by the network they come from.
    """

    def __init__(
        self, most: int, longest_lag_s: float, lag: Lag, count: Count, wait_s: float = _WAIT_S
    ) -> None:
        """
        Admit within these limits.

        Args:
            most: Requests in flight, of all classes together.
            longest_lag_s: ``limits.loop_lag_s``.
            lag: Of event loop and store.
            count: Counts shed requests.
            wait_s: For a place, or for the lag to end, where a class waits; as long is the refusal
                of a body held back.
        """
        self._lag, self._count, self._wait_s = lag, count, wait_s
        self.held = [0] * len(Priority)
        self.strangers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._waiting: list[deque[asyncio.Future[None]]] = [deque() for _ in Priority]
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(_AT_BANK)
        )
        self.change(most, longest_lag_s)

    def change(self, most: int, longest_lag_s: float) -> None:
        """Admit within other limits from now on."""
        self._most = most
        self.places = [_places(each, most) for each in LIMITS.values()]
        self._lags_s = [each.lag * longest_lag_s for each in LIMITS.values()]
        self._waits_s = [each.store_wait * longest_lag_s for each in LIMITS.values()]

    def in_flight(self, priority: Priority) -> int:
        """Return how many requests of a class are being served, with strangers' bodies."""
        bodies = sum(each.total() for each in self.strangers.values())
        return self.held[priority] + (bodies if priority is _STRANGERS else 0)

    def admit(self, priority: Priority) -> Awaitable[None] | None:
        """
        Let one more request in, which ``leave`` ends; or return an awaitable that waits for that.

        Raises:
            Shed: ``SVC.GTW.006`` with ``Retry-After`` when overloaded.
        """
        lag = self._lag
        if lag.p95_s > self._lags_s[priority] or lag.store_wait_s > self._waits_s[priority]:
            if LIMITS[priority].waits:
                return self._outlast_lag(priority)
            self._shed(priority, _LATE)
        if self.held[priority] >= self.places[priority]:
            if LIMITS[priority].waits:
                return self._wait(priority)
            self._shed(priority, _FULL)
        self.held[priority] += 1
        return None

    def leave(self, priority: Priority) -> None:
        """Hand a place to the first request that waits for one, or free it."""
        self.held[priority] -= 1
        waiting = self._waiting[priority]
        while waiting and self.held[priority] < self.places[priority]:
            place = waiting.popleft()
            if not place.done():
                self.held[priority] += 1
                place.set_result(None)

    async def _outlast_lag(self, priority: Priority) -> None:
        """Let loop and store catch up, then take a place; raises as ``admit`` does."""
        await asyncio.sleep(self._wait_s)
        is_late = self._lag.p95_s > self._lags_s[priority]
        if is_late or self._lag.store_wait_s > self._waits_s[priority]:
            reason = _LATE if is_late else _STORE
            self._count(Event.SHED, f"{priority.word}.{reason}")
            raise Shed(reason)
        waiting = self.admit(priority)
        if waiting is not None:
            await waiting

    async def _wait(self, priority: Priority) -> None:
        """Wait for a place that ``leave`` hands over; raises as ``admit`` does."""
        place = asyncio.get_running_loop().create_future()
        self._waiting[priority].append(place)
        try:
            async with asyncio.timeout(self._wait_s):
                await place
        except BaseException as problem:
            if place.done() and not place.cancelled():
                self.leave(priority)  # handed over and given up in the same turn of the loop
            if isinstance(problem, TimeoutError):
                self._count(Event.SHED, f"{priority.word}.{_FULL}")
                raise Shed(_FULL) from problem
            raise

    def doubt(self, priority: Priority) -> None:
        """
        Count a request as a stranger's while its credential is looked up; ``trust`` ends that.

        Wrong credentials thus take no place from payouts and partners. Strangers' places do not
        limit them: a right credential that is not at hand is looked up, too. A class that waits
        keeps its place: the look-up is work like the rest.
        """
        if not LIMITS[priority].waits:
            self.leave(priority)
            self.held[_STRANGERS] += 1

    def trust(self, priority: Priority) -> None:
        """Count a request as its own class's again."""
        if not LIMITS[priority].waits:
            self.leave(_STRANGERS)
            self.held[priority] += 1

    @contextmanager
    def released(self, priority: Priority) -> Iterator[None]:
        """Hold no place for a block in which a request waits for news, and costs nothing."""
        self.leave(priority)
        try:
            yield
        finally:
            self.held[priority] += 1

    @asynccontextmanager
    async def at_bank(self, priority: Priority, bank: str) -> AsyncIterator[None]:
        """
        Wait for a turn at a bank on behalf of a person; no place is held meanwhile.

        A bank that hangs thus takes no place of the pages that do not ask it, and people leave most
        of the bank's places to payouts.

        Raises:
            NoTurn: none came within the time that a request waits for a place.
        """
        self.leave(priority)
        turns = self._turns[bank]
        try:
            try:
                async with asyncio.timeout(self._wait_s):
                    await turns.acquire()
            except TimeoutError as problem:
                raise NoTurn from problem
            try:
                yield
            finally:
                turns.release()
        finally:
            self.held[priority] += 1

    @contextmanager
    def waits_for_stranger(self, priority: Priority, route: str, address: str) -> Iterator[None]:
        """
        Count a request apart while it waits for an unauthenticated caller's body.

        Raises:
            Shed: ``SVC.GTW.006`` with ``Retry-After`` when all such places of the route are taken,
                or the places of the caller's network.
        """
        places, place = max(_LEAST, self._most // _SHARE), network(address)
        waiting = self.strangers[route]
        if waiting.total() >= places or waiting[place] >= places // _NETWORK_SHARE:
            self._shed(_STRANGERS, "strangers")
        waiting[place] += 1
        self.leave(priority)
        try:
            yield
        finally:
            self.held[priority] += 1
            waiting[place] -= 1
            if not waiting[place]:
                del waiting[place]

    def _shed(self, priority: Priority, reason: str) -> NoReturn:
        """Count the shed request, and refuse it."""
        self._count(Event.SHED, f"{priority.word}.{reason}")
        raise Shed(reason, self._wait_s if LIMITS[priority].waits else 0.0)
