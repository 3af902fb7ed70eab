"""Whether a call may be made at all: circuit breaker first, then bulkhead."""

from __future__ import annotations

from gateway.domain.bank.providers import ProviderError, RateLimited, Unknown, Unreachable
from gateway.net.client.messages import Kind
from gateway.net.client.reasons import Reason
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer
from provider_adapters._shared import faults
from provider_adapters._shared.breaker import Breaker, BreakerState, Permit
from provider_adapters._shared.bulkhead import Bulkhead
from provider_adapters._shared.limits import ClientLimits


class Admission:
    """The doors of one provider: a breaker for each kind of call, a bulkhead for all."""

    def __init__(
        self, provider: str, limits: ClientLimits, observer: Observer, runtime: Runtime
    ) -> None:
        def breaker(kind: Kind) -> Breaker:
            def told(state: BreakerState) -> None:
                observer.breaker(provider, kind.value, state.value)

            return Breaker(limits.breaker, runtime.clock, runtime.random, told)

        def crowded(calls: int, limit: int) -> None:
            observer.in_flight(provider, calls, limit)

        self.breakers = {kind: breaker(kind) for kind in Kind}
        self.bulkhead = Bulkhead(limits.bulkhead, crowded)

    def enter_now(self, kind: Kind) -> Permit | None:
        """Take a permit and a place if both are to be had at once; ``enter`` says why not."""
        breaker = self.breakers[kind]
        permit = breaker.admit()
        if permit is not None and not self.bulkhead.enter_now():
            breaker.undecided(permit)
            return None
        return permit

    async def enter(self, kind: Kind) -> Permit:
        """
        Take a permit and a place; ``leave`` gives them back.

        Raises:
            Unreachable: ``breaker_open`` or ``bulkhead_full``; nothing was sent.
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
                breaker.undecided(permit)
        if not entered:
            raise Unreachable(Reason.BULKHEAD_FULL)
        return permit

    def close(self) -> None:
        """Tell for the last time how many calls are in flight."""
        self.bulkhead.tell()

    def leave(self, kind: Kind, permit: Permit) -> None:
        """Give up the place; a permit nothing was told about proves nothing."""
        self.breakers[kind].undecided(permit)
        self.bulkhead.leave()

    def heard(self, kind: Kind, permit: Permit, value: object) -> None:
        """Tell what came of an answer; one that leaves a payout unknown counts as a failure."""
        if isinstance(value, Unknown):
            self.breakers[kind].failed(permit)
        else:
            self.breakers[kind].worked(permit)

    def failed(self, kind: Kind, permit: Permit, failure: ProviderError) -> None:
        """Tell of a failure; a clear "no" is none of the bank's."""
        if not faults.blames_the_bank(failure):
            self.breakers[kind].worked(permit)
            return
        wait = failure.retry_after if isinstance(failure, RateLimited) else None
        self.breakers[kind].failed(permit, wait)
