"""
Whether a call may be made: circuit breaker first, then bulkhead.

A call holds a permit of one and a place in the other. They are taken together
and given back together here, so that no way through the client can keep one.
"""

from __future__ import annotations

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import ProviderError, RateLimited, Unknown, Unreachable
from gateway.net.client.messages import Kind
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer
from provider_adapters._shared import faults
from provider_adapters._shared.breaker import Breaker, BreakerState, Permit
from provider_adapters._shared.bulkhead import Bulkhead
from provider_adapters._shared.limits import ClientLimits


class Admission:
    """One provider's breakers, one for each kind of call, and its bulkhead."""

    def __init__(
        self, provider: str, limits: ClientLimits, observer: Observer, runtime: Runtime
    ) -> None:
        def breaker(kind: Kind) -> Breaker:
            def on_state(state: BreakerState) -> None:
                observer.breaker(provider, kind.value, state.value)

            return Breaker(limits.breaker, runtime.clock, runtime.random, on_state)

        def on_change(calls: int, limit: int) -> None:
            observer.in_flight(provider, calls, limit)

        self.breakers = {kind: breaker(kind) for kind in Kind}
        self.bulkhead = Bulkhead(limits.bulkhead, on_change)

    def enter_now(self, kind: Kind) -> Permit | None:
        """Take a permit and a place if both are free now; otherwise ``enter`` waits or raises."""
        breaker = self.breakers[kind]
        permit = breaker.admit()
        if permit is not None and not self.bulkhead.enter_now():
            breaker.abandoned(permit)
            return None
        return permit

    async def enter(self, kind: Kind) -> Permit:
        """
        Take a permit and a place; ``leave`` gives them back.

        Raises:
            Unreachable: ``breaker_open`` or ``bulkhead_full``. Nothing was sent.
        """
        breaker = self.breakers[kind]
        permit = breaker.admit()
        if permit is None:
            raise Unreachable(Reason.BREAKER_OPEN)
        entered = False
        try:
            entered = await self.bulkhead.enter()
        finally:
            if not entered:
                breaker.abandoned(permit)
        if not entered:
            raise Unreachable(Reason.BULKHEAD_FULL)
        return permit

    def close(self) -> None:
        """Report the number of calls in flight a last time."""
        self.bulkhead.report()

    def leave(self, kind: Kind, permit: Permit) -> None:
        """Give permit and place back; a permit without a result proves nothing."""
        self.breakers[kind].abandoned(permit)
        self.bulkhead.leave()

    def answered(self, kind: Kind, permit: Permit, value: object) -> None:
        """Record an answer; one that leaves a payout unknown counts as a failure."""
        if isinstance(value, Unknown):
            self.breakers[kind].failed(permit)
        else:
            self.breakers[kind].succeeded(permit)

    def failed(self, kind: Kind, permit: Permit, failure: ProviderError) -> None:
        """Record a failure; a clear refusal counts as an answer."""
        if not faults.blames_the_bank(failure):
            self.breakers[kind].succeeded(permit)
            return
        wait = failure.retry_after if isinstance(failure, RateLimited) else None
        self.breakers[kind].failed(permit, wait)
