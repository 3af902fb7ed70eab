"""May the credential see the account in the path, and act on it?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway.domain.accounts.accounts import Account
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.requests.calls import Call, Ready


@dataclass(frozen=True, slots=True)
class AccountScope:
    """Finds the account and compares its company, then the credential's own account."""

    find: Callable[[str], Awaitable[Account | None]]
    refuses = (errors.ACCOUNT_NOT_FOUND, errors.SCOPE_DENIED, errors.AUTH_UNAVAILABLE)

    def __call__(self, call: Call) -> Awaitable[None] | None:
        """
        Fill in the account; the path's identifier was checked before.

        Raises:
            ServiceError: ``SVC.ACC.001`` (404) when it is absent or of another
                company, one answer for both; ``SVC.AUT.010`` (403) when the
                credential is scoped to a sister account (contract 5.1);
                ``SVC.SYS.002`` (503) when the store does not answer.
        """
        found = self.find(call.asked.path["account_id"].lower())
        if isinstance(found, Ready):
            _compare(call, found.value)
            return None
        return _wait(call, found)


async def _wait(call: Call, finding: Awaitable[Account | None]) -> None:
    """Wait for the account, then compare."""
    try:
        account = await finding
    except StoreUnavailable as problem:
        headers = {"Retry-After": "2"}
        raise ServiceError(errors.AUTH_UNAVAILABLE, "unavailable", headers) from problem
    _compare(call, account)


def _compare(call: Call, account: Account | None) -> None:
    """Fill the account in, or refuse."""
    principal = call.principal
    if account is None or principal is None or account.company_id != principal.company_id:
        raise ServiceError(errors.ACCOUNT_NOT_FOUND, "not_visible")
    if principal.account_id is not None and principal.account_id != account.id:
        raise ServiceError(errors.SCOPE_DENIED, "scope")
    call.account = account
