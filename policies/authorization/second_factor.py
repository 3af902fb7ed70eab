"""Does the user have a second factor, where their role needs one?"""

from __future__ import annotations

from collections.abc import Collection

from gateway.domain.identity.errors import STEP_UP_REQUIRED
from gateway.domain.identity.rights import Right, Role, changes
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call

_ENROL = "enrol a second factor first, at auth/totp; your role asks for one"


class RequiresSecondFactor:
    """Lets users without a second factor sign in, read and enrol, but change nothing."""

    refuses = (STEP_UP_REQUIRED,)

    def __init__(self, roles: Collection[Role]) -> None:
        """Ask people of these ``roles``."""
        self._roles = frozenset(roles)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if it changes nothing, or the person has enrolled.

        Raises:
            ServiceError: ``STEP_UP_REQUIRED`` (403) with the reason ``no_factor``.
        """
        person, needed = call.person, call.needs
        if person is None or not isinstance(needed, Right):
            return
        if changes(needed) and person.lacks_factor(self._roles):
            raise ServiceError(STEP_UP_REQUIRED, "no_factor", detail=_ENROL)
