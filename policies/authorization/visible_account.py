"""Is the account in the path within this user's company scope?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from gateway.domain.accounts.accounts import Account
from gateway.domain.kernel import errors
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.requests.calls import Call

_RETRY: Final = {"Retry-After": "2"}


@dataclass(frozen=True, slots=True)
class VisibleAccount:
    """
    Finds the account, whatever its state, within the scope that was decided before.

    Attributes:
        find: Asks the store each time: what a person changed they see at once.
    """

    find: Callable[[tuple[str, CompanyScope]], Awaitable[Account | None]]
    refuses = (errors.ACCOUNT_NOT_FOUND, errors.AUTH_UNAVAILABLE)

    async def __call__(self, call: Call) -> None:
        """
        Fill in the account; the path's identifier was checked before.

        Raises:
            ServiceError: ``SVC.ACC.001`` (404) when it is absent or of a company
                that is not shown to the person, one answer for both;
                ``SVC.SYS.002`` (503) when the store does not answer.
        """
        try:
            account = await self._find(call)
        except StoreUnavailable as problem:
            raise ServiceError(errors.AUTH_UNAVAILABLE, "unavailable", _RETRY) from problem
        if account is None:
            raise ServiceError(errors.ACCOUNT_NOT_FOUND, "not_visible")
        call.account = account

    async def _find(self, call: Call) -> Account | None:
        """Ask the store; nothing is visible before the scope is decided."""
        if call.scope is None:
            return None
        return await self.find((call.asked.path["account_id"].lower(), call.scope))
