"""Does the address still have a token for this call, before the caller is known?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Monotonic
from gateway.domain.requests.calls import Call
from gateway.telemetry.ports import Count
from policies.traffic.quota import Meter, Quota


class WithinAddressQuota:
    """
    Draws one token of the address's bucket for the row; a row without a bucket is free.

    A browser in which a user signed in before draws from that user's bucket
    instead, so other callers at the same address cannot use it up.
    """

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(
        self,
        quotas: Mapping[str, Quota],
        clock: Monotonic,
        count: Count,
        returned: Collection[str] = (),
    ) -> None:
        """Use ``quotas`` by name; ``count`` counts draws; ``returned`` count failures alone."""
        self._returned = frozenset(returned)
        self._meters = {name: Meter(name, quota, clock, count) for name, quota in quotas.items()}

    def __call__(self, call: Call) -> None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        meter = self._meters.get(call.quota)
        if meter is None:
            return
        known = call.known
        key = f"person:{known.user_id}" if known is not None else call.asked.address
        meter.draw(call, key)
        if call.quota in self._returned:
            call.on_success = partial(meter.give_back, key)
