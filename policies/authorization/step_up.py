"""Is the second factor fresh enough for what this row does?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.domain.identity.errors import STEP_UP_REQUIRED
from gateway.domain.identity.rights import Right, needs_step_up
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call

FRESH: Final = timedelta(minutes=5)
"""How long a second factor counts as just given."""


@dataclass(frozen=True, slots=True)
class FreshFactor:
    """
    Checks that the second factor is fresh, where the right asks for it.

    Attributes:
        always: Asks whatever the right is.
    """

    now: Now
    fresh: timedelta = FRESH
    always: bool = False
    refuses = (STEP_UP_REQUIRED,)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if its right asks for nothing, or the factor is fresh.

        Raises:
            ServiceError: ``STEP_UP_REQUIRED`` (403) for a factor that is too
                old, and for a person who has none until they enrol one.
        """
        if not isinstance(call.needs, Right) or not (self.always or needs_step_up(call.needs)):
            return
        person = call.person
        at = person.factor_at if person is not None and person.has_factor else None
        if at is None:
            raise ServiceError(STEP_UP_REQUIRED, "no_factor")
        if self.now() - at > self.fresh:
            raise ServiceError(STEP_UP_REQUIRED, "factor_old")
