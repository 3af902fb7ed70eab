"""Authorization of credentials: where they are used from, permission and account."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gateway.core import errors
from gateway.core.account import Account
from gateway.core.calls import Call, Ready
from gateway.core.errors import ServiceError
from gateway.core.permissions import Permission
from policies.store_silence import asking_the_store


@dataclass(frozen=True, slots=True)
class FromAllowedCaller:
    """
    Compares where a call comes from with the credential's rule of use.

    Attributes:
        refused: Called with the client id and the address of a call that does not fit.
    """

    refused: Callable[[str, str], None]
    refuses = (errors.PERMISSION_DENIED,)

    def __call__(self, call: Call) -> None:
        """
        Let the call on if its address and certificate fit.

        Raises:
            ServiceError: ``SVC.AUT.010`` (403), for every call.
        """
        principal, asked = call.principal, call.asked
        if principal is None:
            raise ServiceError(errors.PERMISSION_DENIED, "no_caller_rule")
        if principal.callers.anywhere:
            return
        reason = principal.callers.refusal(asked.address, asked.certificate)
        if reason:
            self.refused(principal.client_id, asked.address)
            raise ServiceError(errors.PERMISSION_DENIED, reason)


class RequiresPermission:
    """Compares held permissions with the route's."""

    refuses = (errors.PERMISSION_DENIED,)

    def __call__(self, call: Call) -> None:
        """Let the call on if any held permission covers the needed one (contract 5.2, 5.3)."""
        needed = call.needs
        if needed is None:
            return
        if call.principal is not None and isinstance(needed, Permission):
            for held in call.principal.permissions:
                if held.covers(needed):
                    return
        raise ServiceError(errors.PERMISSION_DENIED, "permission")


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
    with asking_the_store():
        account = await finding
    _compare(call, account)


def _compare(call: Call, account: Account | None) -> None:
    principal = call.principal
    if account is None or principal is None or account.company_id != principal.company_id:
        raise ServiceError(errors.ACCOUNT_NOT_FOUND, "not_visible")
    if principal.account_id is not None and principal.account_id != account.id:
        call.out_of_scope = account
        raise ServiceError(errors.SCOPE_DENIED, "scope")
    call.account = account


class AccountState:
    """Checks the state of the account found before."""

    refuses = (errors.ACCOUNT_INACTIVE, errors.ACCOUNT_UNVERIFIED)

    def __call__(self, call: Call) -> None:
        """Let the call on if the account is active, and then if it is verified (contract 5.1)."""
        if call.account is None or not call.account.active:
            raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
        if not call.account.verified:
            raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
