"""Authorization of users: companies, rights and second factor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from gateway.core import errors
from gateway.core.account import Account
from gateway.core.calls import Call
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope, scope_of
from gateway.core.errors import ServiceError
from gateway.core.rights import Right, Role, needs_step_up
from gateway.core.user_access import check_enrolled, check_fresh_factor, check_right
from gateway.core.user_errors import FORBIDDEN, STEP_UP_REQUIRED
from policies.store_silence import asking_the_store


class DecidesCompanyScope:
    """
    Fills in the scope of the signed-in user; the only place that decides it.

    Operations are given it, and the store puts it into its WHERE.
    """

    refuses = (FORBIDDEN,)

    def __call__(self, call: Call) -> None:
        """Fill in the scope."""
        if call.person is None:
            raise ServiceError(FORBIDDEN, "permission")
        call.scope = scope_of(call.person.companies)


class RequiresRight:
    """Compares the user's rights with the right of the route."""

    refuses = (FORBIDDEN,)

    def __call__(self, call: Call) -> None:
        """Let the call on if a role covers the needed right."""
        needed = call.needs
        if needed is None:
            return
        if call.person is None or not isinstance(needed, Right):
            raise ServiceError(FORBIDDEN, "permission")
        check_right(call.person, needed)


class RequiresSecondFactor:
    """Lets users without a second factor sign in, read and enrol, but change nothing."""

    refuses = (STEP_UP_REQUIRED,)

    def __init__(self, roles: Collection[Role]) -> None:
        self._roles = frozenset(roles)

    def __call__(self, call: Call) -> None:
        """Let the call on if it changes nothing, or the person has enrolled."""
        if call.person is not None and isinstance(call.needs, Right):
            check_enrolled(call.person, call.needs, self._roles)


@dataclass(frozen=True, slots=True)
class FreshFactor:
    """
    Checks that the second factor is fresh, where the right asks for it.

    Attributes:
        always: Required for every right.
    """

    now: Now
    always: bool = False
    refuses = (STEP_UP_REQUIRED,)

    def __call__(self, call: Call) -> None:
        """Let the call on if its right asks for nothing, or the factor is fresh."""
        if not isinstance(call.needs, Right) or not (self.always or needs_step_up(call.needs)):
            return
        if call.person is None:
            raise ServiceError(STEP_UP_REQUIRED, "no_factor")
        check_fresh_factor(call.person, self.now())


@dataclass(frozen=True, slots=True)
class VisibleAccount:
    """
    Finds the account, in any state, within the scope that was decided before.

    Attributes:
        find: Reads the store each time, so that changes are visible at once.
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
        account = None
        if call.scope is not None:  # before, nothing is visible
            with asking_the_store():
                account = await self.find((call.asked.path["account_id"].lower(), call.scope))
        if account is None:
            raise ServiceError(errors.ACCOUNT_NOT_FOUND, "not_visible")
        call.account = account
