"""Does the credential hold the permission this row needs?"""

from __future__ import annotations

from gateway.domain.accounts.permissions import Permission
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call


class RequiresPermission:
    """Compares what is held with what the row needs."""

    refuses = (errors.PERMISSION_DENIED,)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if any held permission covers the needed one.

        Raises:
            ServiceError: ``SVC.AUT.010`` (403) when none does (contract 5.2, 5.3).
        """
        needed = call.needs
        if needed is None:
            return
        if call.principal is not None and isinstance(needed, Permission):
            for held in call.principal.permissions:
                if held.covers(needed):
                    return
        raise ServiceError(errors.PERMISSION_DENIED, "permission")
