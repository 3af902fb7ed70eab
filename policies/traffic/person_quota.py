"""Does the user still have a token for this call?"""

from __future__ import annotations

from typing import Final

from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Monotonic
from gateway.domain.requests.calls import Call
from gateway.telemetry.ports import Count
from policies.traffic.quota import Meter, Quota

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

    def __call__(self, call: Call) -> None:
        """Let the call on if the bucket has a token; raises as ``Meter.take`` does."""
        if call.person is not None and call.quota == PERSON:
            self._meter.draw(call, call.person.user_id)
