"""Does the address still have a token for this call, before anybody is known?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateway.domain import errors
from gateway.domain.calls import Call
from gateway.domain.clocks import Monotonic
from policies.traffic.quota import Meter, Quota


class WithinAddressQuota:
    """Draws one token of the address's bucket for the row; a row without a bucket is free."""

    refuses = (errors.TOO_MANY_REQUESTS,)

    def __init__(
        self, quotas: Mapping[str, Quota], clock: Monotonic, seen: Callable[[str, str], None]
    ) -> None:
        """Use ``quotas`` by name; ``seen`` counts draws."""
        self._meters = {name: Meter(name, quota, clock, seen) for name, quota in quotas.items()}

    def __call__(self, call: Call) -> None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        meter = self._meters.get(call.quota)
        if meter is not None:
            meter.draw(call, call.asked.address)
