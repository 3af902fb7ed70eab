"""Has the caller a token for this call: the partner, the address, the user?"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from gateway.domain.accounts.credentials import Principal
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Monotonic
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call
from gateway.domain.requests.networks import network
from gateway.telemetry.ports import Count, Event

# Made-up callers cannot fill the memory; one whose bucket is dropped starts with a full one.
_KEYS_KEPT = 10_000
# Long enough that a burst of long statements is paid off, and no caller waits for longer.
_LONGEST_DEBT_S: Final = 60.0
_LONGEST_COMPANY_DEBT_S: Final = 1.0
COMPANY = "company"
# bound once: the attribute of an enumeration takes a third of a microsecond, and each call asks
_QUOTA: Final = Event.QUOTA


@dataclass(frozen=True, slots=True)
class Quota:
    """A token bucket: ``rate`` tokens a second, at most ``burst`` kept."""

    rate: float
    burst: int

    @property
    def window_s(self) -> int:
        """The seconds an empty bucket takes to fill."""
        return math.ceil(self.burst / self.rate)


class Draw(msgspec.Struct, frozen=True):
    """What a draw gave: whether it was let, tokens left, seconds until the next one."""

    allowed: bool
    remaining: int
    wait_s: float


class Buckets:
    """
    Token buckets of one quota by key, in memory and per process.

    Each is one number: the instant at which it would be full again.
    """

    def __init__(self, quota: Quota, clock: Monotonic) -> None:
        self._clock = clock
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._step = 0.0
        self.change(quota)

    def change(self, quota: Quota) -> None:
        """Draw from buckets of another quota from now on; each lacks as many tokens as before."""
        now, before, self._step = self._clock(), self._step, 1 / quota.rate
        for key, full_at in self._full_at.items():
            self._full_at[key] = now + max(0.0, full_at - now) * self._step / before
        self._capacity = quota.burst * self._step
        # A rounding error of a sum must not cost a whole token.
        self._slack = self._step / 1000

    def draw(self, key: str) -> Draw:
        """Take one token of ``key`` if there is one."""
        now = self._clock()
        step = self._step
        full_at = max(now, self._full_at.get(key, now)) + step
        over = full_at - now - self._capacity
        if over > self._slack:
            return Draw(False, 0, over)  # noqa: FBT003 - the field's name stands in the class
        self._keep(key, full_at)
        return Draw(True, round(-over / step) if over < 0 else 0, 0.0)  # noqa: FBT003

    def _keep(self, key: str, full_at: float) -> None:
        """Note when a bucket is full again; of too many, the one used longest ago is dropped."""
        kept = self._full_at
        kept[key] = full_at
        kept.move_to_end(key)
        if len(kept) > _KEYS_KEPT:
            kept.popitem(last=False)

    def charge(self, key: str, longest_debt_s: float) -> None:
        """Take one token of ``key``, owed where there is none; the debt is bounded, in seconds."""
        now = self._clock()
        full_at = max(now, self._full_at.get(key, now)) + self._step
        self._keep(key, min(full_at, now + self._capacity + longest_debt_s))

    def wait_s(self, key: str) -> float:
        """Return the seconds until ``key`` has a token; 0 where it has one. Takes none."""
        now = self._clock()
        over = max(now, self._full_at.get(key, now)) + self._step - now - self._capacity
        return over if over > self._slack else 0.0

    def give_back(self, key: str) -> None:
        """Put one token back that was taken from ``key``."""
        full_at = self._full_at.get(key)
        if full_at is not None:
            self._full_at[key] = full_at - self._step


class Meter:
    """
    One quota by its name: draws from it, counts draws, and shows on the answer what is left.

    The fields are those of the RateLimit draft.
    """

    def __init__(self, name: str, quota: Quota, clock: Monotonic, count: Count) -> None:
        self.buckets = Buckets(quota, clock)
        self._name = name
        self._allowed = f"{name}.allowed"
        self._count = count
        self._describe(quota)

    def change(self, quota: Quota) -> None:
        """Draw from buckets of another quota from now on."""
        self.buckets.change(quota)
        self._describe(quota)

    def _describe(self, quota: Quota) -> None:
        self._policy = f'"{self._name}";q={quota.burst};w={quota.window_s}'
        self._refill_s = math.ceil(1 / quota.rate)

    def take(self, call: Call, key: str) -> int:
        """
        Take one token of ``key``; return how many are left.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After`` and the RateLimit fields.
        """
        draw = self.buckets.draw(key)
        if draw.allowed:
            self._count(_QUOTA, self._allowed)
            return draw.remaining
        self._count(_QUOTA, f"{self._name}.limited")
        raise self._refusal(call, draw.wait_s)

    def rehearse(self, call: Call, key: str) -> None:
        """Refuse as ``take`` does, but take no token and count nothing."""
        wait_s = self.buckets.wait_s(key)
        if wait_s:
            raise self._refusal(call, wait_s)

    def _refusal(self, call: Call, wait_s: float) -> ServiceError:
        """Make the refusal of a caller whose next token comes in ``wait_s`` seconds."""
        reset_s = math.ceil(wait_s)
        self._show(call, 0, reset_s)
        headers = {**call.headers, "Retry-After": str(max(1, reset_s))}
        return ServiceError(errors.TOO_MANY_REQUESTS, f"quota_{self._name}", headers)

    def draw(self, call: Call, key: str) -> None:
        """Take one token of ``key`` and show how many are left; raises as ``take`` does."""
        self._show(call, self.take(call, key), self._refill_s)

    def _show(self, call: Call, left: int, reset_s: int) -> None:
        call.headers["RateLimit-Policy"] = self._policy
        call.headers["RateLimit"] = f'"{self._name}";r={left};t={reset_s}'


class _Metered:
    """Draws tokens of several quotas, by their names."""

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(self, quotas: Mapping[str, Quota], clock: Monotonic, count: Count) -> None:
        self._meters = {name: Meter(name, quota, clock, count) for name, quota in quotas.items()}

    def change(self, quotas: Mapping[str, Quota]) -> None:
        """Draw from other quotas of the same names from now on."""
        for name, meter in self._meters.items():
            meter.change(quotas[name])


class WithinQuota(_Metered):
    """Draws one token of the credential's bucket for the row, and one of its company's."""

    def __call__(self, call: Call) -> None:
        """
        Let the call on if both buckets have a token; raises as ``Meter.take`` does.

        A call that is refused takes none: one credential in a loop leaves its company's to the
        others. The company's is shown only where it refuses.
        """
        principal = call.principal
        if principal is None:
            return
        own = self._meters[call.quota]
        own.draw(call, principal.client_id)
        try:
            self._meters[COMPANY].take(call, principal.company_id)
        except ServiceError:
            own.buckets.give_back(principal.client_id)
            raise

    def charge(self, quota: str, principal: Principal) -> None:
        """
        Charge a caller for a further page of its bank as for one more call of this quota.

        What is not there is owed: further calls are refused until it is paid off. The company
        owes little, since its payouts draw on the same bucket.
        """
        self._meters[quota].buckets.charge(principal.client_id, _LONGEST_DEBT_S)
        self._meters[COMPANY].buckets.charge(principal.company_id, _LONGEST_COMPANY_DEBT_S)

    def rehearse(self, call: Call) -> None:
        """Refuse as a call would be refused now; takes no token and counts nothing."""
        principal = call.principal
        if principal is not None:
            self._meters[call.quota].rehearse(call, principal.client_id)
            self._meters[COMPANY].rehearse(call, principal.company_id)


class WithinAddressQuota(_Metered):
    """
    Draws one token of the address's bucket for the row; a row without a bucket is free.

    The addresses of one /64 of IPv6 have one bucket: a household or a server has all of them.
    A browser in which a user signed in before draws from that user's bucket
    instead, so other callers at the same address cannot use it up.

    Args:
        returned: Quotas that count failures alone.
    """

    def __init__(
        self,
        quotas: Mapping[str, Quota],
        clock: Monotonic,
        count: Count,
        returned: Collection[str] = (),
    ) -> None:
        super().__init__(quotas, clock, count)
        self._returned = frozenset(returned)

    def __call__(self, call: Call) -> None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        meter = self._meters.get(call.quota)
        if meter is None:
            return
        known = call.known
        key = network(call.asked.address) if known is None else f"person:{known.user_id}"
        meter.draw(call, key)
        if call.quota in self._returned:
            call.on_success = partial(meter.buckets.give_back, key)


PERSON: Final = "person"
"""The one bucket of somebody who signed in; rows name it in their limits."""


class WithinPersonQuota:
    """
    Draws one token of the user's bucket; rows without a bucket are free.

    One bucket for all sessions, tokens and browsers of a user: signing in twice
    gives no second quota.
    """

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(self, quota: Quota, clock: Monotonic, count: Count) -> None:
        """Let everybody have ``quota``; ``count`` counts draws."""
        self._meter = Meter(PERSON, quota, clock, count)

    def change(self, quota: Quota) -> None:
        """Let everybody have another quota from now on."""
        self._meter.change(quota)

    def __call__(self, call: Call) -> None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        if call.person is not None and call.quota == PERSON:
            self._meter.draw(call, call.person.user_id)
