"""
The bank's limits: calls a second by operation and credential, concurrent calls by account.

A call beyond it waits briefly or is refused here, before a byte leaves us. Where the bank itself
refuses a call for coming too often, that operation pauses for that credential alone: one account
or operation never takes the others with it.

Where processes share limits, each limited call asks the buckets and the pause that all have. While
it does not answer, this process uses its share of each bucket (decision 67).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from gateway.banks.client.messages import ProviderRequest
from gateway.banks.port.providers import RateLimited, Reason
from gateway.core.limits import Buckets, SharedBuckets, keep, take_in_time
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.limits import ALL_OPERATIONS, BulkheadLimits, ClientLimits

# Where the bank does not say how long to wait: this, and twice as long each further time in a row.
_PAUSE_S: Final = 1.0
_DOUBLED_AT_MOST: Final = 10
# What a caller is told to wait at most: a bucket may take days to give its next token.
_LONGEST_TOLD_S: Final = 3600.0
# The number changes twice with every call; four reports a second are enough for a gauge.
_REPORT_S: Final = 0.25


class Bulkhead:
    """
    At most so many calls at once, and so many waiting briefly for a place, in order.

    ``on_change`` is called with the number of calls in flight and the limit, a quarter of a second
    after the number changed; None for no callback.
    """

    def __init__(
        self, limits: BulkheadLimits, on_change: Callable[[int, int], None] | None = None
    ) -> None:
        self._limits = limits
        self._on_change = on_change
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._report_timer: asyncio.TimerHandle | None = None
        self.in_flight = 0

    def enter_now(self) -> bool:
        """Take a place if one is free; calls that wait are never overtaken."""
        if self.in_flight >= self._limits.in_flight:
            return False
        self.in_flight += 1
        if self._report_timer is None:
            self._report_soon()
        return True

    async def enter(self) -> bool:
        """Take a place, waiting if necessary; return False when there was none in time."""
        if self.enter_now():
            return True
        if len(self._waiting) >= self._limits.waiting:
            return False
        return await self._wait()

    def leave(self) -> None:
        """Hand the place to the first call that waits, or free it."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)  # handed over: the number of calls stays the same
                return
        self.in_flight -= 1
        if self._report_timer is None:
            self._report_soon()

    def report(self) -> None:
        """Report the number of calls now, and cancel the timer."""
        if self._report_timer is not None:
            self._report_timer.cancel()
            self._report_timer = None
        if self._on_change is not None:
            self._on_change(self.in_flight, self._limits.in_flight)

    @property
    def is_idle(self) -> bool:
        """Whether no call has a place or waits for one."""
        return not (self.in_flight or self._waiting)

    async def _wait(self) -> bool:
        """Wait for a place that ``leave`` hands over."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(self._limits.wait_s):
                await place
        except BaseException as problem:
            if place.done() and not place.cancelled():
                self.leave()  # handed over and given up in the same turn of the loop
            elif place in self._waiting:
                self._waiting.remove(place)
            if isinstance(problem, TimeoutError):
                return False
            raise
        return True

    def _report_soon(self) -> None:
        """Report a quarter of a second from now, later changes included."""
        if self._on_change is not None:
            self._report_timer = asyncio.get_running_loop().call_later(_REPORT_S, self.report)


class _Pause(NamedTuple):
    """End of an operation's pause, and the number of consecutive pauses."""

    until: float
    times: int


class BankLimits:
    """
    Keeps one provider's calls within what its bank allows.

    ``on_refused`` is called with the operation and the limit: ``rate``, ``width`` (calls at
    once) or ``pause``. Times are seconds of the runtime's clock. What processes share has
    ``provider`` in its names.
    """

    def __init__(
        self,
        limits: ClientLimits,
        runtime: Runtime,
        on_refused: Callable[[str, str], None],
        provider: str = "",
    ) -> None:
        self._provider = provider
        self._shared = runtime.shared
        # operations that the bank refused before: others may be told to pause
        self._refused: set[str] = set()
        rates, width = limits.account_limits.rates, limits.account_in_flight
        self._width = msgspec.structs.replace(limits.bulkhead, in_flight=width) if width else None
        self._patience_s = limits.bulkhead.wait_s
        self._longest_s = limits.breaker.longest_open_s
        self._runtime = runtime
        self._on_refused = on_refused
        self._buckets = {
            name: SharedBuckets(
                f"{provider}\0{name}",
                Buckets(rate, runtime.clock, self._patience_s),
                self._processes,
                self._patience_s,
            )
            for name, rate in rates.items()
            if rate is not None
        }
        self._paused: OrderedDict[str, _Pause] = OrderedDict()
        self._accounts: dict[str, Bulkhead] = {}

    def enter_now(self, request: ProviderRequest) -> bool:
        """Let a call on if it has to wait for nothing; otherwise ``enter`` waits or raises."""
        if self._is_shared(request):
            return False
        is_limited = bool(self._buckets or self._paused)
        if is_limited and self._wait_s(request) > 0:
            return False
        places = self._places(request)
        if places is not None and not places.enter_now():
            self._forget(request)
            return False
        if is_limited:
            self._draw(request)
        return True

    async def enter(self, request: ProviderRequest) -> None:
        """
        Let a call on, after a short wait if need be; ``leave`` ends it.

        Raises:
            RateLimited: the wait would be longer than a call waits for a place. Nothing was sent.
        """
        places = self._places(request)
        if places is not None and not await places.enter():
            self._forget(request)
            self._on_refused(request.operation, "width")
            raise RateLimited(Reason.RATE_LIMITED)
        try:
            await self._wait(request)
        except BaseException:
            self.leave(request)
            raise

    def leave(self, request: ProviderRequest) -> None:
        """End a call: another one of its account may begin."""
        places = self._accounts.get(request.account)
        if places is not None:
            places.leave()
            self._forget(request)

    def unused(self, request: ProviderRequest) -> None:
        """End a call that was not made after all: its tokens are given back."""
        self._give_back(request)
        self.leave(request)

    def refused_by_bank(self, request: ProviderRequest, asked_s: float | None) -> None:
        """
        Pause the operation for this credential, since the bank answered "too many calls".

        ``asked_s`` is the wait that the bank states; None if unstated.
        """
        key = self._pause_key(request)
        times = min(self._paused.get(key, _Pause(0.0, 0)).times + 1, _DOUBLED_AT_MOST)
        wait_s = _PAUSE_S * 2 ** (times - 1) if asked_s is None else asked_s
        wait_s = min(wait_s, self._longest_s)
        keep(self._paused, key, _Pause(self._runtime.clock() + wait_s, times))
        self._refused.add(request.operation)
        if self._shared is not None:
            self._shared.pause(key, wait_s)

    def answered(self, request: ProviderRequest) -> None:
        """
        Reset the count of pauses: the bank accepted a call of this operation and credential.

        A call that was under way when the pause began does not end it.
        """
        if self._paused and not self._pause_s(request):
            self._paused.pop(self._pause_key(request), None)

    async def _wait(self, request: ProviderRequest) -> None:
        """Wait for a token and the end of a pause; raises as ``enter`` does."""
        shared_s = await self._shared_wait_s(request)
        wait_s = self._wait_s(request) if shared_s is None else shared_s
        if wait_s > self._patience_s:
            is_paused = self._pause_s(request) > self._patience_s
            self._on_refused(request.operation, "pause" if is_paused else "rate")
            told_s = min(wait_s, _LONGEST_TOLD_S)
            raise RateLimited(Reason.RATE_LIMITED, retry_after=told_s)
        if shared_s is None:
            self._draw(request)
        if wait_s <= 0:
            return
        try:
            await self._runtime.sleep(wait_s)
        except BaseException:
            self._give_back(request)
            raise

    async def _shared_wait_s(self, request: ProviderRequest) -> float | None:
        """Draw for all processes; the wait, longer than patience where nothing is drawn."""
        if self._shared is None or not self._is_shared(request):
            return None
        key, drawn = self._pause_key(request), self._drawn(request)
        answer = await take_in_time(self._shared, drawn, pause=key)
        if answer is None:
            return None
        asks, granted = answer
        if granted.pause_s:
            times = self._paused.get(key, _Pause(0.0, 0)).times
            keep(self._paused, key, _Pause(self._runtime.clock() + granted.pause_s, times))
        wait_s = self._pause_s(request)
        for ask, grant in zip(asks, granted.grants, strict=True):
            missing_s = 0.0 if grant.took else ask.step_s
            wait_s = max(wait_s, grant.full_s + missing_s - (ask.room_s - self._patience_s))
        if wait_s > self._patience_s:
            took = zip(asks, granted.grants, strict=True)
            self._shared.give_back([ask._replace(want=0, back=1) for ask, it in took if it.took])
        return wait_s

    def _is_shared(self, request: ProviderRequest) -> bool:
        """Return whether shared limits hold for a call: it has a rate, or was refused once."""
        if self._shared is None or self._shared.away:
            return False
        is_limited = request.operation in self._buckets or ALL_OPERATIONS in self._buckets
        return is_limited or request.operation in self._refused

    def _wait_s(self, request: ProviderRequest) -> float:
        """Return how long this call would have to wait."""
        waits = [buckets.wait_s(of) for buckets, of in self._drawn(request)]
        return max([self._pause_s(request), *waits])

    def _pause_s(self, request: ProviderRequest) -> float:
        """Return how long the bank still wants to be left alone."""
        pause = self._paused.get(self._pause_key(request))
        return 0.0 if pause is None else max(0.0, pause.until - self._runtime.clock())

    def _draw(self, request: ProviderRequest) -> None:
        """Take a token of each of our own buckets, lacking there where there is none."""
        for buckets, of in self._drawn(request):
            buckets.charge(of)
            if self._shared is not None:
                # no bucket lacks more than all
                buckets.owe(of, buckets.rate.burst)

    def _give_back(self, request: ProviderRequest) -> None:
        """Put the tokens of a call back that was not made."""
        drawn = self._drawn(request)
        for buckets, of in drawn:
            buckets.give_back(of)
        if self._shared is not None:
            self._shared.give_back([buckets.ask(of, 0, 1) for buckets, of in drawn])

    def _drawn(self, request: ProviderRequest) -> Sequence[tuple[SharedBuckets, str]]:
        """Return the buckets of a call: its operation's, and that of all operations together."""
        names, of = (request.operation, ALL_OPERATIONS), _credential(request)
        return [(self._buckets[name], of) for name in names if name in self._buckets]

    def _pause_key(self, request: ProviderRequest) -> str:
        return "\0".join((self._provider, request.operation, _credential(request)))

    def _processes(self) -> int:
        return 1 if self._shared is None else self._shared.processes

    def _places(self, request: ProviderRequest) -> Bulkhead | None:
        """Return the places of the call's account; None where they are not bounded."""
        account = request.account
        if self._width is None or not account:
            return None
        places = self._accounts.get(account)
        if places is None:
            places = self._accounts[account] = Bulkhead(self._width)
        return places

    def _forget(self, request: ProviderRequest) -> None:
        """Keep nothing of an account without calls."""
        places = self._accounts.get(request.account)
        if places is not None and places.is_idle:
            del self._accounts[request.account]


def _credential(request: ProviderRequest) -> str:
    """Return the credential that a call counts for: the account's unless the call names another."""
    return request.credential or request.account
