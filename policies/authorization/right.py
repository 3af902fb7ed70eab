"""Do the user's roles cover the right this row needs?"""

from __future__ import annotations

from gateway.domain.identity.errors import FORBIDDEN
from gateway.domain.identity.rights import Right
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call


class RequiresRight:
    """Compares the user's rights with the right of the row."""

    refuses = (FORBIDDEN,)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if a role covers the needed right.

        Raises:
            ServiceError: ``FORBIDDEN`` (403) when none does, and where no gate
                has established the user.
        """
        needed = call.needs
        if needed is None:
            return
        if call.person is None or not isinstance(needed, Right) or not call.person.may(needed):
            raise ServiceError(FORBIDDEN, "permission")
