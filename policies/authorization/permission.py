"""Does the credential hold the permission this row needs?"""

from __future__ import annotations

from gateway.domain import errors
from gateway.domain.calls import Call
from gateway.domain.errors import ServiceError


class RequiresPermission:
    """Compares what is held with what the row needs."""

    refuses = (errors.PERMISSION_DENIED,)

    async def __call__(self, call: Call) -> None:
        """
        Let the call on if any held permission covers the needed one.

        Raises:
            ServiceError: ``SVC.AUT.010`` (403) when none does (contract 5.2, 5.3).
        """
        needed = call.needs
        held = call.principal.permissions if call.principal else frozenset()
        if needed is not None and not any(each.covers(needed) for each in held):
            raise ServiceError(errors.PERMISSION_DENIED, "permission")
