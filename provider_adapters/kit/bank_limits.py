"""
The bank's limits: calls a second by operation and credential, concurrent calls by account.

A call beyond it waits briefly or is refused here, before a byte leaves us. Where the bank itself
refuses a call for coming too often, that operation pauses for that credential alone: one account
or operation never takes the others with it.

Where processes share limits, each limited call asks the buckets and the pause that all have. While
nobody answers, this process goes by its own: buckets of the rate divided by the live processes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

import msgspec

from gateway.banks.client.messages import ProviderRequest
from gateway.banks.port.providers import RateLimited, Reason
from gateway.core.shared_limits import Ask
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.admission import Bulkhead, account_of
from provider_adapters.kit.limits import ALL_OPERATIONS, CallRate, ClientLimits

# Each key is one small object; above this bound the oldest go, and their buckets are full again.
_KEYS_KEPT: Final = 10_000
# Where the bank does not say how long to wait: this, and twice as long each further time in a row.
_PAUSE_S: Final = 1.0
_DOUBLED_AT_MOST: Final = 10
# What a caller is told to wait at most: a bucket may take days to give its next token.
_LONGEST_TOLD_S: Final = 3600.0
# A rounding error of a sum must not cost a wait.
_SLACK_S: Final = 1e-6

Value = TypeVar("Value")
Name = TypeVar("Name", str, tuple[str, str])
Key = tuple[str, str]
"""An operation, and the credential the bank counts it for."""


class _Pause(NamedTuple):
    """End of an operation's pause, and the number of consecutive pauses."""

    until: float
    times: int


class BankLimits:
    """
    Keeps one provider's calls within what its bank allows.

    ``on_refused`` is called with the operation and what refused it: ``rate``, ``width`` (calls at
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
        """Begin with full buckets."""
        self._provider = provider
        self._shared = runtime.shared
        # operations that the bank refused before: others may be told to pause
        self._refused: set[str] = set()
        # drawn from our own buckets while nobody answered, which the common ones do not know yet
        self._owed: OrderedDict[str, int] = OrderedDict()
        rates, width = limits.account_limits.rates, limits.account_in_flight
        self._rates = {name: rate for name, rate in rates.items() if rate is not None}
        self._width = msgspec.structs.replace(limits.bulkhead, in_flight=width) if width else None
        self._patience_s = limits.bulkhead.wait_s
        self._longest_s = limits.breaker.longest_open_s
        self._runtime = runtime
        self._on_refused = on_refused
        self._full_at: OrderedDict[Key, float] = OrderedDict()
        self._paused: OrderedDict[Key, _Pause] = OrderedDict()
        self._accounts: dict[str, Bulkhead] = {}

    def enter_now(self, request: ProviderRequest) -> bool:
        """Let a call on if it has to wait for nothing; otherwise ``enter`` waits or raises."""
        if self._is_shared(request):
            return False
        is_limited = bool(self._rates or self._paused)
        if is_limited and self._wait_s(request) > 0:
            return False
        places = self._places(request)
        if places is not None and not places.enter_now():
            self._forget(request)
            return False
        if is_limited:
            self._draw(request)
            self._owe(request)
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
        places = self._accounts.get(account_of(request))
        if places is not None:
            places.leave()
            self._forget(request)

    def unused(self, request: ProviderRequest) -> None:
        """End a call that was not made after all: its tokens are given back."""
        self._give_back(request)
        if self._shared is not None:
            self._shared.give_back(self._asks(request, back=1))
        self.leave(request)

    def refused_by_bank(self, request: ProviderRequest, asked_s: float | None) -> None:
        """
        Pause the operation for this credential, since the bank answered "too many calls".

        ``asked_s`` is the wait that the bank states; None if unstated.
        """
        key = _key(request.operation, request)
        times = min(self._paused.get(key, _Pause(0.0, 0)).times + 1, _DOUBLED_AT_MOST)
        wait_s = _PAUSE_S * 2 ** (times - 1) if asked_s is None else asked_s
        wait_s = min(wait_s, self._longest_s)
        _keep(self._paused, key, _Pause(self._runtime.clock() + wait_s, times))
        self._refused.add(request.operation)
        if self._shared is not None:
            self._shared.pause(self._name(key), wait_s)

    def answered(self, request: ProviderRequest) -> None:
        """
        Reset the count of pauses: the bank accepted a call of this operation and credential.

        A call that was under way when the pause began does not end it.
        """
        if self._paused and not self._pause_s(request):
            self._paused.pop(_key(request.operation, request), None)

    async def _wait(self, request: ProviderRequest) -> None:
        """Wait for a token and the end of a pause; raises as ``enter`` does."""
        shared_s = await self._shared_wait_s(request)
        wait_s = self._wait_s(request) if shared_s is None else shared_s
        if wait_s > self._patience_s:
            is_paused = self._pause_s(request) > self._patience_s
            self._on_refused(request.operation, "pause" if is_paused else "rate")
            told_s = min(wait_s, _LONGEST_TOLD_S)
            raise RateLimited(Reason.RATE_LIMITED, retry_after=told_s)
        self._draw(request)
        if shared_s is None:
            self._owe(request)
        if wait_s <= 0:
            return
        try:
            await self._runtime.sleep(wait_s)
        except BaseException:
            self._give_back(request)
            if self._shared is not None:
                self._shared.give_back(self._asks(request, back=1))
            raise

    async def _shared_wait_s(self, request: ProviderRequest) -> float | None:
        """Draw for all processes; the wait, longer than patience where nothing is drawn."""
        if self._shared is None or not self._is_shared(request):
            return None
        key, asks = _key(request.operation, request), self._asks(request, want=1, owed=True)
        granted = await self._shared.take(asks, self._name(key))
        if granted is None:
            self._owed.update({ask.key: -ask.back for ask in asks if ask.back})
            return None
        if granted.pause_s:
            times = self._paused.get(key, _Pause(0.0, 0)).times
            _keep(self._paused, key, _Pause(self._runtime.clock() + granted.pause_s, times))
        wait_s = self._pause_s(request)
        for ask, grant in zip(asks, granted.grants, strict=True):
            missing_s = 0.0 if grant.took else ask.step_s
            wait_s = max(wait_s, grant.full_s + missing_s - (ask.room_s - self._patience_s))
        if wait_s > self._patience_s:
            drawn = zip(asks, granted.grants, strict=True)
            self._shared.give_back([ask._replace(want=0, back=1) for ask, it in drawn if it.took])
        return wait_s

    def _is_shared(self, request: ProviderRequest) -> bool:
        """Return whether shared limits hold for a call: it has a rate, or was refused once."""
        if self._shared is None or self._shared.away:
            return False
        is_limited = request.operation in self._rates or ALL_OPERATIONS in self._rates
        return is_limited or request.operation in self._refused

    def _asks(
        self, request: ProviderRequest, *, want: int = 0, back: int = 0, owed: bool = False
    ) -> list[Ask]:
        """Build a request for a token of each bucket, within the time that a call may wait."""
        asks = []
        for name in (request.operation, ALL_OPERATIONS):
            rate = self._rates.get(name)
            if rate is not None:
                place, burst_s = self._name(_key(name, request)), rate.burst / rate.rate
                given = -self._owed.pop(place, 0) if owed else back
                room_s = burst_s + self._patience_s
                asks.append(Ask(place, 1 / rate.rate, room_s, want, given, burst_s))
        return asks

    def _owe(self, request: ProviderRequest) -> None:
        """Count a token of each bucket that was drawn here and not from the shared bucket."""
        if self._shared is not None:
            for key, _ in self._buckets(request):
                most, place = self._rates[key[0]].burst, self._name(key)
                # no bucket lacks more than all
                _keep(self._owed, place, min(self._owed.get(place, 0) + 1, most))

    def _name(self, key: Key) -> str:
        """Name a bucket or pause among those of all providers."""
        return "\0".join((self._provider, *key))

    def _wait_s(self, request: ProviderRequest) -> float:
        """Return how long this call would have to wait."""
        now, wait_s = self._runtime.clock(), self._pause_s(request)
        for key, rate in self._buckets(request):
            full_at = max(self._full_at.get(key, now), now) + 1 / rate.rate
            wait_s = max(wait_s, full_at - now - rate.burst / rate.rate - _SLACK_S)
        return wait_s

    def _pause_s(self, request: ProviderRequest) -> float:
        """Return how long the bank still wants to be left alone."""
        pause = self._paused.get(_key(request.operation, request))
        return 0.0 if pause is None else max(0.0, pause.until - self._runtime.clock())

    def _draw(self, request: ProviderRequest) -> None:
        """Take a token of each bucket; one that is empty is in debt to those who wait."""
        now = self._runtime.clock()
        for key, rate in self._buckets(request):
            full_at = max(self._full_at.get(key, now), now) + 1 / rate.rate
            # what was drawn for all processes may be more than this one's part
            longest = now + rate.burst / rate.rate + self._patience_s
            _keep(self._full_at, key, min(full_at, longest))

    def _give_back(self, request: ProviderRequest) -> None:
        """Put the tokens of a call back that was not made."""
        for key, rate in self._buckets(request):
            if key in self._full_at:
                self._full_at[key] -= 1 / rate.rate

    def _buckets(self, request: ProviderRequest) -> Iterator[tuple[Key, CallRate]]:
        """Return the buckets of a call: its operation's, and that of all operations together."""
        parts = 1 if self._shared is None else self._shared.processes
        for name in (request.operation, ALL_OPERATIONS):
            rate = self._rates.get(name)
            if rate is not None:
                part = rate
                if parts > 1:
                    part = CallRate(rate=rate.rate / parts, burst=max(1, rate.burst // parts))
                yield _key(name, request), part

    def _places(self, request: ProviderRequest) -> Bulkhead | None:
        """Return the places of the call's account; None where they are not bounded."""
        account = account_of(request)
        if self._width is None or not account:
            return None
        places = self._accounts.get(account)
        if places is None:
            places = self._accounts[account] = Bulkhead(self._width)
        return places

    def _forget(self, request: ProviderRequest) -> None:
        """Keep nothing of an account without calls."""
        account = account_of(request)
        places = self._accounts.get(account)
        if places is not None and places.is_idle:
            del self._accounts[account]


def _key(operation: str, request: ProviderRequest) -> Key:
    """Return the bucket's key: operation and credential, or the account without a credential."""
    return operation, request.credential or account_of(request)


def _keep(kept: OrderedDict[Name, Value], key: Name, value: Value) -> None:
    """Keep a value as the newest; the oldest goes where there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _KEYS_KEPT:
        kept.popitem(last=False)
