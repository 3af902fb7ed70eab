"""The acting user of the back office, and the rights that service methods require."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from gateway.core import errors
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, scope_of
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right, Role, needs_step_up
from gateway.core.sessions import SignedInUser
from gateway.core.user_access import check_enrolled, check_fresh_factor, check_right

Service = TypeVar("Service")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Staff:
    """
    The actor: a signed-in user, or the user of a command.

    Attributes:
        acting: The actor's name for the audit log, and the clock.
        scope: The companies whose records the actor may see and change.
        person: None on the command line, which may do everything.
        factor_roles: A user with one of these roles changes nothing without a second factor.
    """

    acting: AuditContext
    scope: CompanyScope = EVERY_COMPANY
    person: SignedInUser | None = None
    factor_roles: Collection[Role] = ()

    def require(self, needed: Requirement) -> None:
        """
        Check that the actor has a right now.

        Raises:
            ServiceError: ``FORBIDDEN`` without the right, ``STEP_UP_REQUIRED`` without the
                second factor that it needs.
        """
        if self.person is None:
            return
        for right in needed.rights:
            check_right(self.person, right)
        check_enrolled(self.person, needed.right, self.factor_roles)
        if needed.fresh_factor or needs_step_up(needed.right):
            check_fresh_factor(self.person, self.acting.now())

    def may(self, right: Right) -> bool:
        """Return whether the actor has a right."""
        return self.person is None or self.person.may(right)


@dataclass(frozen=True, slots=True)
class StaffOf:
    """Converts a signed-in user to the actor."""

    now: Now
    factor_roles: Collection[Role]

    def __call__(self, person: SignedInUser) -> Staff:
        """Return the actor, limited to the user's companies."""
        acting, scope = AuditContext(person.actor, self.now), scope_of(person.companies)
        return Staff(acting, scope, person, self.factor_roles)


@dataclass(frozen=True, slots=True)
class Requirement:
    """
    The right and conditions that a service method requires.

    Attributes:
        fresh_factor: It is required for every right; many rights require it by themselves.
        active: Accounts that the method is given must be active and verified (contract 5.1).
        also: An area that must be readable beside: of what a file holds, or files themselves.
    """

    right: Right
    fresh_factor: bool = False
    active: bool = False
    also: Area | None = None

    @property
    def rights(self) -> tuple[Right, ...]:
        """Every right that is required."""
        also = () if self.also is None else (Right(self.also, Action.READ),)
        return (self.right, *also)


def requires(
    area: Area,
    action: Action,
    *,
    fresh_factor: bool = False,
    active: bool = False,
    also: Area | None = None,
) -> Callable[
    [Callable[Concatenate[Service, Staff, Parameters], Awaitable[Result]]],
    Callable[Concatenate[Service, Staff, Parameters], Coroutine[Any, Any, Result]],
]:
    """
    Check the caller of a service method before it runs.

    Args:
        area: With ``action``, the right that covers it.
        action: See ``area``.
        fresh_factor: The second factor must have been given within the last five minutes, also
            where the right does not require it.
        active: The account that the method is given must be active and verified.
        also: An area that must be readable beside.
    """
    needed = Requirement(Right(area, action), fresh_factor, active, also)

    def guarded(
        method: Callable[Concatenate[Service, Staff, Parameters], Awaitable[Result]],
    ) -> Callable[Concatenate[Service, Staff, Parameters], Coroutine[Any, Any, Result]]:
        @functools.wraps(method)
        async def checked(
            service: Service, who: Staff, /, *given: Parameters.args, **named: Parameters.kwargs
        ) -> Result:
            who.require(needed)
            for each in (*given, *named.values()):
                if needed.active and isinstance(each, Account):
                    _check_state(each)
            return await method(service, who, *given, **named)

        checked.__dict__["requirement"] = needed
        return checked

    return guarded


def requirement_of(method: Callable[..., Any]) -> Requirement:
    """Return the requirement of a service method; AttributeError without ``requires``."""
    needed: Requirement = method.requirement  # type: ignore[attr-defined]
    return needed


def _check_state(account: Account) -> None:
    if not account.active:
        raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
    if not account.verified:
        raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
