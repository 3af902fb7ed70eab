"""Throttle of addresses that were refused too often."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from dataclasses import dataclass

from gateway.core import errors
from gateway.core.calls import Call
from gateway.core.clocks import Monotonic
from gateway.core.errors import ServiceError
from gateway.core.networks import network
from gateway.core.shared_limits import SharedLimits

# Made-up addresses and names cannot fill the memory.
_KEYS_KEPT = 10_000
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

    Each process counts what it refused itself. Where ``shared`` counts for all, it is told of
    each refusal, and what it answers holds here until then: a right credential never asks it.
    """

    def __init__(
        self, limits: FailureLimits, clock: Monotonic, shared: SharedLimits | None = None
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._shared = shared
        self._refusals: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        # by key and limit, until when it is exceeded in all processes together
        self._exceeded: OrderedDict[tuple[str, str, int], float] = OrderedDict()

    def count(self, address: str, client_id: str) -> None:
        """Record that a credential of ``client_id`` from ``address`` was refused."""
        now = self._clock()
        for key in _keys(address, client_id):
            times = self._refusals.get(key)
            if times is None:
                times = self._refusals[key] = deque(maxlen=self._limits.hard_per_address + 1)
            times.append(now)
            self._refusals.move_to_end(key)
        while len(self._refusals) > _KEYS_KEPT:
            self._refusals.popitem(last=False)

    async def count_for_all(self, address: str, client_id: str) -> None:
        """Count a refused credential here and in all processes; waits for 20 ms at most."""
        self.count(address, client_id)
        if self._shared is None:
            return
        keys, limits = _keys(address, client_id), self._limits
        counted = [
            sorted((limits.per_address, limits.hard_per_address)),
            [limits.per_address_and_client],
        ][: len(keys)]
        names = ["\0".join(key) for key in keys]
        waits = await self._shared.count_failure(names, limits.window_s, counted)
        now = self._clock()
        for key, most, waited in zip(keys, counted, waits or (), strict=False):
            for limit, wait_s in zip(most, waited, strict=True):
                if wait_s > 0:
                    self._exceeded[*key, limit] = now + wait_s
        while len(self._exceeded) > _KEYS_KEPT:
            self._exceeded.popitem(last=False)

    def wait_when_refused(self, address: str, client_id: str = "") -> int:
        """Return the seconds a refused caller must wait; 0 when it is below the limits."""
        most = (self._limits.per_address, self._limits.per_address_and_client)
        keys = _keys(address, client_id)
        return max(self._wait(key, limit) for key, limit in zip(keys, most, strict=False))

    def wait_before_all(self, address: str) -> int:
        """Return the seconds an address must wait before any of its requests is read."""
        if not self._refusals:  # nobody was refused lately: nearly always
            return 0
        return self._wait((network(address), ""), self._limits.hard_per_address)

    def _wait(self, key: tuple[str, str], limit: int) -> int:
        """Return the seconds until at most ``limit`` refusals lie in the window; 0 when so now."""
        times, now = self._refusals.get(key), self._clock()
        if times is None:
            return 0
        exceeded_s = self._exceeded.get((*key, limit), now) - now
        horizon = now - self._limits.window_s
        while times and times[0] <= horizon:
            times.popleft()
        if not times:
            del self._refusals[key]
        own_s = times[-limit - 1] - horizon if len(times) > limit else 0.0
        wait_s = max(own_s, exceeded_s)
        return max(1, math.ceil(wait_s)) if wait_s > 0 else 0


def _keys(address: str, client_id: str) -> list[tuple[str, str]]:
    """Return what a refusal counts under: the address, and the address with the client id."""
    place = network(address)
    return [(place, ""), (place, client_id[:_ID_KEPT])] if client_id else [(place, "")]


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
