"""Throttle of addresses that were refused too often."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gateway.core import errors
from gateway.core.calls import Call
from gateway.core.clocks import Monotonic
from gateway.core.errors import ServiceError
from gateway.core.limits import MovingWindow, SharedLimits
from gateway.core.networks import network

_ID_KEPT = 32
"""Ours are shorter; what a stranger calls itself must not fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureLimits:
    """Refused credentials let through per window of ``window_s`` seconds."""

    per_address: int
    per_address_and_client: int
    hard_per_address: int
    window_s: float


class FailureThrottle:
    """
    Counts refused credentials by address, and by address and client id.

    The addresses of one /64 of IPv6 count as one: a household or a server has all of them.
    Never by client id alone: that would let a stranger lock a partner out.

    Each process counts its own refusals. Where ``shared`` counts for all, each refusal is
    sent to it, and its answer holds here until then: a right credential never asks it. Refusals
    that it does not answer in time are let through less often. The hard limit, which refuses right
    credentials too, holds in each process then.
    """

    def __init__(
        self, limits: FailureLimits, clock: Monotonic, shared: SharedLimits | None = None
    ) -> None:
        self._limits = limits
        self._window = MovingWindow(limits.window_s, limits.hard_per_address, clock, shared)

    async def count(self, address: str, client_id: str) -> None:
        """Record that a credential from ``address`` was refused; waits 20 ms, or more if busy."""
        limits = self._limits
        place, both = _keys(address, client_id)
        counted = {place: sorted((limits.per_address, limits.hard_per_address))}
        if client_id:
            counted[both] = [limits.per_address_and_client]
        await self._window.add_for_all(counted)

    def wait_when_refused(self, address: str, client_id: str = "") -> int:
        """Return the seconds a refused caller must wait; 0 when it is below the limits."""
        place, both = _keys(address, client_id)
        wait_s = self._window.strict_wait_s(place, self._limits.per_address)
        if client_id:
            of_client = self._window.strict_wait_s(both, self._limits.per_address_and_client)
            wait_s = max(wait_s, of_client)
        return math.ceil(wait_s)

    def wait_before_all(self, address: str) -> int:
        """Return the seconds an address must wait before any of its requests is read."""
        if not self._window.times:  # nobody was refused lately: nearly always
            return 0
        place, _ = _keys(address, "")
        return math.ceil(self._window.wait_s(place, self._limits.hard_per_address))


def _keys(address: str, client_id: str) -> tuple[str, str]:
    """Return the keys that count a refusal: the address, and the address with the client id."""
    place = network(address)
    return f"{place}\0", f"{place}\0{client_id[:_ID_KEPT]}"


@dataclass(frozen=True, slots=True)
class NotBlocked:
    """Refuse an address far over the limit before its credential is read."""

    throttle: FailureThrottle
    refuses = (errors.TOO_MANY_REQUESTS,)

    def __call__(self, call: Call) -> None:
        """Let the call on unless its address is blocked."""
        wait = self.throttle.wait_before_all(call.asked.address)
        if wait:
            raise too_many(wait, "address_blocked")


def too_many(wait_s: int, reason: str) -> ServiceError:
    """Return the refusal of a caller that must wait ``wait_s`` seconds."""
    return ServiceError(errors.TOO_MANY_REQUESTS, reason, {"Retry-After": str(wait_s)})
