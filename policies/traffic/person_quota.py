"""Does the person still have a token for this call?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from gateway.domain import errors
from gateway.domain.calls import Call
from gateway.domain.clocks import Monotonic
from gateway.domain.errors import ServiceError
from policies.traffic.quota import Buckets, Quota

PERSON: Final = "person"
"""The one bucket of somebody who signed in; rows name it in their limits."""


class WithinPersonQuota:
    """
    Draws one token of the person's bucket, for a row that names it; others are free.

    One for all of somebody's sessions, tokens and browsers: who signs in twice
    may not ask twice as often.
    """

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(self, quota: Quota, clock: Monotonic, seen: Callable[[str, str], None]) -> None:
        """Let everybody have ``quota``; ``seen`` counts draws."""
        self._buckets = Buckets(quota, clock)
        self._policy = f'"{PERSON}";q={quota.burst};w={quota.window_s}'
        self._refill_s = math.ceil(1 / quota.rate)
        self._seen = seen

    def __call__(self, call: Call) -> None:
        """
        Let the call on if the bucket has a token.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After`` and the
                RateLimit fields.
        """
        if call.person is None or call.quota != PERSON:
            return
        draw = self._buckets.draw(call.person.user_id)
        reset_s = self._refill_s if draw.allowed else math.ceil(draw.wait_s)
        call.headers["RateLimit-Policy"] = self._policy
        call.headers["RateLimit"] = f'"{PERSON}";r={draw.remaining};t={reset_s}'
        if draw.allowed:
            self._seen("quota_allowed", PERSON)
            return
        self._seen("quota_limited", PERSON)
        headers = {**call.headers, "Retry-After": str(max(1, reset_s))}
        raise ServiceError(errors.TOO_MANY_REQUESTS, f"quota_{PERSON}", headers)
