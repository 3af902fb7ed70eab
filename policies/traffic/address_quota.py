"""Does the address still have a token for this call, before anybody is known?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from gateway.domain import errors
from gateway.domain.calls import Call
from gateway.domain.clocks import Monotonic
from gateway.domain.errors import ServiceError
from policies.traffic.quota import Buckets, Quota


class WithinAddressQuota:
    """Draws one token of the address's bucket for the row; a row without a bucket is free."""

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(
        self, quotas: Mapping[str, Quota], clock: Monotonic, seen: Callable[[str, str], None]
    ) -> None:
        """Use ``quotas`` by name; ``seen`` counts draws."""
        self._buckets = {name: Buckets(quota, clock) for name, quota in quotas.items()}
        self._seen = seen

    def __call__(self, call: Call) -> None:
        """
        Let the call on if the bucket has a token.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``.
        """
        buckets = self._buckets.get(call.quota)
        if buckets is None:
            return
        draw = buckets.draw(call.asked.address)
        if draw.allowed:
            self._seen("quota_allowed", call.quota)
            return
        self._seen("quota_limited", call.quota)
        wait = {"Retry-After": str(max(1, math.ceil(draw.wait_s)))}
        raise ServiceError(errors.TOO_MANY_REQUESTS, f"quota_{call.quota}", wait)
