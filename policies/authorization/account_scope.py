"""May the credential see the account in the path, and act on it?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway.domain import errors
from gateway.domain.accounts import Account
from gateway.domain.calls import Call
from gateway.domain.errors import ServiceError
from gateway.domain.stores import StoreUnavailable


@dataclass(frozen=True, slots=True)
class AccountScope:
    """Finds the account and compares its company, then the credential's own account."""

    find: Callable[[str], Awaitable[Account | None]]
    refuses = (errors.ACCOUNT_NOT_FOUND, errors.SCOPE_DENIED, errors.AUTH_UNAVAILABLE)

    async def __call__(self, call: Call) -> None:
        """
        Fill in the account; the path's identifier was checked before.

        Raises:
            ServiceError: ``SVC.ACC.001`` (404) when it is absent or of another
                company, one answer for both; ``SVC.AUT.010`` (403) when the
                credential is scoped to a sister account (contract 5.1);
                ``SVC.SYS.002`` (503) when the store cannot tell.
        """
        try:
            account = await self.find(call.asked.path["account_id"].lower())
        except StoreUnavailable as problem:
            headers = {"Retry-After": "2"}
            raise ServiceError(errors.AUTH_UNAVAILABLE, "unavailable", headers) from problem
        principal = call.principal
        if account is None or principal is None or account.company_id != principal.company_id:
            raise ServiceError(errors.ACCOUNT_NOT_FOUND, "not_visible")
        if principal.account_id not in {None, account.id}:
            raise ServiceError(errors.SCOPE_DENIED, "scope")
        call.account = account
