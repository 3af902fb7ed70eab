"""Does the partner still have a token for this call?"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from gateway.domain import errors
from gateway.domain.calls import Call
from gateway.domain.clocks import Monotonic
from gateway.domain.errors import ServiceError

_KEYS_KEPT = 10_000
COMPANY = "company"


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
        """Draw from buckets of ``quota``."""
        self._clock = clock
        self._step = 1 / quota.rate
        self._capacity = quota.burst * self._step
        # A rounding error of a sum must not cost a whole token.
        self._slack = self._step / 1000
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def draw(self, key: str) -> Draw:
        """Take one token of ``key`` if there is one."""
        now = self._clock()
        step, kept = self._step, self._full_at
        full_at = kept.get(key, now)
        full_at = (max(now, full_at)) + step
        over = full_at - now - self._capacity
        if over > self._slack:
            return Draw(False, 0, over)  # noqa: FBT003 - the field's name stands in the class
        kept[key] = full_at
        kept.move_to_end(key)
        if len(kept) > _KEYS_KEPT:
            kept.popitem(last=False)
        return Draw(True, round(-over / step) if over < 0 else 0, 0.0)  # noqa: FBT003


class WithinQuota:
    """Draws one token of the credential's bucket for the row, and one of its company's."""

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(
        self,
        quotas: Mapping[str, Quota],
        clock: Monotonic,
        seen: Callable[[str, str], None],
    ) -> None:
        """Use ``quotas`` by name, ``company`` among them; ``seen`` counts draws."""
        self._buckets = {name: Buckets(quota, clock) for name, quota in quotas.items()}
        self._told = {
            name: (f'"{name}";q={quota.burst};w={quota.window_s}', math.ceil(1 / quota.rate))
            for name, quota in quotas.items()
        }
        self._seen = seen

    def __call__(self, call: Call) -> None:
        """
        Let the call on if both buckets have a token.

        Raises:
            ServiceError: ``SVC.GTW.005`` with ``Retry-After`` and the RateLimit
                fields.
        """
        principal = call.principal
        if principal is None:
            return
        self._draw(call, COMPANY, principal.company_id)
        left = self._draw(call, call.quota, principal.client_id)
        policy, refill_s = self._told[call.quota]
        call.headers["RateLimit-Policy"] = policy
        call.headers["RateLimit"] = f'"{call.quota}";r={left};t={refill_s}'

    def _draw(self, call: Call, name: str, key: str) -> int:
        """Take one token; return how many are left, or refuse and say until when."""
        draw = self._buckets[name].draw(key)
        if draw.allowed:
            self._seen("quota_allowed", name)
            return draw.remaining
        self._seen("quota_limited", name)
        reset_s = math.ceil(draw.wait_s)
        call.headers["RateLimit-Policy"], _ = self._told[name]
        call.headers["RateLimit"] = f'"{name}";r={draw.remaining};t={reset_s}'
        headers = {**call.headers, "Retry-After": str(max(1, reset_s))}
        raise ServiceError(errors.TOO_MANY_REQUESTS, f"quota_{name}", headers)
