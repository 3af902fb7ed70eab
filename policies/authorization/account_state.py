"""Is the account active and verified?"""

from __future__ import annotations

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call


class AccountState:
    """Looks at the account that the scope established."""

    refuses = (errors.ACCOUNT_INACTIVE, errors.ACCOUNT_UNVERIFIED)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if the account may be banked on.

        Raises:
            ServiceError: ``SVC.ACC.002`` when it is not active, else
                ``SVC.ACC.003`` when it is not verified (contract 5.1).
        """
        if call.account is None or not call.account.active:
            raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
        if not call.account.verified:
            raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
