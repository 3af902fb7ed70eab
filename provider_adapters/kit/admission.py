"""
Admission of calls: the circuit breaker, the bank's limits, then the bulkhead.

A call holds a permit of the first and a place in the others. They are taken together
and given back together here, so that no way through the client can keep one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from enum import StrEnum
from itertools import islice
from math import inf
from typing import Final, NamedTuple

from gateway.banks.client.messages import Kind, ProviderRequest
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.clocks import Monotonic
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer
from provider_adapters.kit.bank_limits import BankLimits, Bulkhead
from provider_adapters.kit.limits import BreakerLimits, ClientLimits


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
_ACCOUNTS_KEPT: Final = 1_000
# Of calls that concern no account, such as probes.
_NOBODY: Final = ""
State = int
"""Which state of a breaker allowed a call; results of calls from older states are ignored."""


class Permit(NamedTuple):
    """A call's permit: a state of the bank's breaker, and one of its account's own, if any."""

    bank: State
    own: State | None = None


class Breaker:
    """
    One circuit breaker, of a bank or of an account there, for one kind of call.

    Call ``admit`` before a call, then exactly one of ``succeeded``, ``failed``
    and ``abandoned`` with what it returned. Times are seconds of ``clock``.
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
        self._permit: State = 0
        self._openings = 0
        self._open_until = 0.0
        self._probing = False
        self.state: BreakerState = _CLOSED
        self._reset()

    def admit(self, *, early: bool = False) -> State | None:
        """Allow one call; None when it must not be made. ``early`` probes before the pause ends."""
        if self.state is _OPEN and (early or self._clock() >= self._open_until):
            self._enter(_HALF_OPEN)
        if self.state is _CLOSED:
            return self._permit
        if self.state is _OPEN or self._probing:
            return None
        self._probing = True
        return self._permit

    def left_s(self) -> float | None:
        """Return the seconds until calls are tried again; None when a probe decides that."""
        return max(0.0, self._open_until - self._clock()) if self.state is _OPEN else None

    @property
    def is_calm(self) -> bool:
        """Whether it is closed and has seen no failure lately."""
        return self.state is _CLOSED and not self._recent.failures

    def succeeded(self, permit: State) -> None:
        """Record that the bank answered, even with a refusal."""
        if permit != self._permit:
            return
        if self.state is _HALF_OPEN:
            self._openings = 0
            self._enter(_CLOSED)
            return
        self._failures = 0
        self._recent.add(self._clock(), failed=False)

    def failed(self, permit: State, *, opens: bool = True) -> None:
        """Record that the bank failed; one that is closed stays so unless this ``opens`` it."""
        if permit != self._permit:
            return
        now = self._clock()
        self._failures += 1
        self._recent.add(now, failed=True)
        if self.state is _HALF_OPEN or (opens and self._too_many()):
            self._open(now)

    def abandoned(self, permit: State) -> None:
        """Record that the call was given up: it proves nothing, and a new probe may start."""
        if permit == self._permit:
            self._probing = False

    def _too_many(self) -> bool:
        limits = self._limits
        if self._failures >= limits.consecutive:
            return True
        return self._recent.calls >= limits.calls and (
            self._recent.failures >= limits.share * self._recent.calls
        )

    def _open(self, now: float) -> None:
        """Stop calls, for longer each time in a row."""
        limits = self._limits
        self._openings += 1
        wait = limits.open_s * self._openings * (1 + limits.jitter * (2 * self._random() - 1))
        self._open_until = now + min(limits.longest_open_s, wait)
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
        self._recent = RecentCalls(self._limits.window_s)


class Breakers:
    """
    The breakers of one kind of call at a bank: the bank's own, and one for each account that fails.

    One account's failures are not held against the bank while others are served: the account's
    own breaker opens, and theirs stays closed. The bank's opens when a second account fails too, or
    when the one that fails is the only one that calls; then the first call of another
    account may probe at once. It never opens where ``whole_bank`` is false.
    """

    def __init__(
        self, limits: BreakerLimits, runtime: Runtime, on_state: Callable[[BreakerState], None]
    ) -> None:
        self._limits = limits
        self._runtime = runtime
        self.bank = Breaker(limits, runtime.clock, runtime.random, on_state)
        self._own: OrderedDict[str, tuple[Breaker, float]] = OrderedDict()
        self._sole: str | None = None
        self._served, self._served_at = _NOBODY, -inf
        self._other_served_at = -inf

    def admit(self, account: str) -> Permit:
        """
        Allow one call of an account.

        Raises:
            Unreachable: ``breaker_open``, with the seconds until calls are tried again.
        """
        own_state = None
        own = self._own.get(account)
        if own is not None:
            own_state = own[0].admit()
            if own_state is None:
                raise Unreachable(Reason.BREAKER_OPEN, retry_after=own[0].left_s())
        is_another = self._sole is not None and self._sole != account
        state = self.bank.admit(early=is_another)
        if state is None:
            if own is not None and own_state is not None:
                own[0].abandoned(own_state)
            raise Unreachable(Reason.BREAKER_OPEN, retry_after=self.bank.left_s())
        return Permit(state, own_state)

    def succeeded(self, account: str, permit: Permit) -> None:
        """Record that the bank answered, even with a refusal."""
        self.bank.succeeded(permit.bank)
        if account != self._served:
            self._other_served_at = self._served_at
            self._served = account
        self._served_at = self._runtime.clock()
        own = self._own.get(account)
        if own is not None and permit.own is not None:
            own[0].succeeded(permit.own)
            if own[0].is_calm:
                del self._own[account]

    def failed(self, account: str, permit: Permit) -> None:
        """Record that the bank failed."""
        now = self._runtime.clock()
        lately = now - self._limits.window_s
        served_at = self._served_at if self._served != account else self._other_served_at
        newest = islice(reversed(self._own.items()), 2)
        others_fail = any(name != account and at > lately for name, (_, at) in newest)
        own = self._own.pop(account, None)
        breaker = own[0] if own else self._new()
        breaker.failed(permit.own or 0)
        self._sole = None if others_fail else account
        proves = others_fail or served_at <= lately
        self.bank.failed(permit.bank, opens=self._limits.whole_bank and proves)
        # the bank's holds the account back as well: one pause, not two
        self._own[account] = (breaker if self.bank.state is _CLOSED else self._new()), now
        if len(self._own) > _ACCOUNTS_KEPT:
            self._own.popitem(last=False)

    def abandoned(self, account: str, permit: Permit) -> None:
        """Record that the call was given up: it proves nothing, and a new probe may start."""
        self.bank.abandoned(permit.bank)
        own = self._own.get(account)
        if own is not None and permit.own is not None:
            own[0].abandoned(permit.own)

    def _new(self) -> Breaker:
        """Return the breaker of an account; it is in no metric."""
        return Breaker(self._limits, self._runtime.clock, self._runtime.random, lambda _state: None)


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
        for at in range(max(self._newest + 1, newest - _SLICES + 1), newest + 1):
            old = self._slices[at % _SLICES]
            self.calls -= old[0]
            self.failures -= old[1]
            old[0] = old[1] = 0
        self._newest = newest


class Admission:
    """
    One provider's breakers, some for each kind of call, and its bulkhead.

    Attributes:
        bank_limits: The bank's limits for each account and credential; None while nothing is
            known to be limited.
    """

    def __init__(
        self, provider: str, limits: ClientLimits, observer: Observer, runtime: Runtime
    ) -> None:
        def breakers(kind: Kind) -> Breakers:
            def on_state(state: BreakerState) -> None:
                observer.breaker(provider, kind.value, state.value)

            return Breakers(limits.breaker, runtime, on_state)

        def on_change(calls: int, limit: int) -> None:
            observer.in_flight(provider, calls, limit)

        self.breakers = {kind: breakers(kind) for kind in Kind}
        self.bulkhead = Bulkhead(limits.bulkhead, on_change)
        self.bank_limits: BankLimits | None = None

    def enter_now(self, request: ProviderRequest) -> Permit | None:
        """
        Take a permit and a place if all are free now; None where ``enter`` would wait.

        Raises:
            Unreachable: ``breaker_open``. Nothing was sent.
        """
        account, bank_limits = request.account, self.bank_limits
        breakers = self.breakers[request.kind]
        permit = breakers.admit(account)
        if bank_limits is None or bank_limits.enter_now(request):
            if self.bulkhead.enter_now():
                return permit
            if bank_limits is not None:
                bank_limits.unused(request)
        breakers.abandoned(account, permit)
        return None

    async def enter(self, request: ProviderRequest) -> Permit:
        """
        Take a permit and a place; ``leave`` gives them back.

        Raises:
            Unreachable: ``breaker_open`` or ``bulkhead_full``. Nothing was sent.
            RateLimited: beyond the bank's limits. Nothing was sent.
        """
        account, breakers = request.account, self.breakers[request.kind]
        permit = breakers.admit(account)
        entered = False
        try:
            entered = await self._enter_places(request)
        finally:
            if not entered:
                breakers.abandoned(account, permit)
        if not entered:
            raise Unreachable(Reason.BULKHEAD_FULL)
        return permit

    def close(self) -> None:
        """Report the number of calls in flight a last time."""
        self.bulkhead.report()

    def leave(
        self, request: ProviderRequest, permit: Permit, *, failed: bool | None = None
    ) -> None:
        """
        Give permit and place back.

        ``failed`` says whether the bank did; None where the call proves nothing of it.
        """
        account, breakers = request.account, self.breakers[request.kind]
        if failed is None:
            breakers.abandoned(account, permit)
        elif failed:
            breakers.failed(account, permit)
        else:
            breakers.succeeded(account, permit)
        self.bulkhead.leave()
        if self.bank_limits is not None:
            self.bank_limits.leave(request)

    async def _enter_places(self, request: ProviderRequest) -> bool:
        """Wait for the bank's limits, then for a place; False when there was none in time."""
        bank_limits = self.bank_limits
        if bank_limits is None:
            return await self.bulkhead.enter()
        await bank_limits.enter(request)
        entered = False
        try:
            entered = await self.bulkhead.enter()
        finally:
            if not entered:
                bank_limits.unused(request)
        return entered
