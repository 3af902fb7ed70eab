"""Who calls the back office: a signed-in user, their scope, and the account they act on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from aiohttp import hdrs

from gateway.domain.accounts.accounts import Account
from gateway.domain.accounts.credentials import Principal
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.requests.calls import Call, Caller
from gateway.domain.requests.versions import ANY_VERSION, Expected, expected
from gateway.http.backoffice.failures import explained
from gateway.operations.backoffice.admin_services import AdminServices
from gateway.operations.kernel.audit_context import AuditContext

Taken = TypeVar("Taken")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BackOfficeCaller:
    """
    A signed-in user.

    Attributes:
        scope: The companies whose records they may see and change.
        expected: The versions, of what they change, that they have seen.
    """

    person: SignedInUser
    acting: AuditContext
    scope: CompanyScope
    expected: Expected = ANY_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCaller:
    """
    A signed-in user at one account, which is in their scope.

    Attributes:
        scope: The companies whose records they may see and change.
        expected: The versions, of what they change, that they have seen.
    """

    person: SignedInUser
    acting: AuditContext
    scope: CompanyScope
    account: Account
    expected: Expected = ANY_VERSION

    @property
    def caller(self) -> Caller:
        """The person in the place of a partner, for what both do alike."""
        principal = Principal(
            client_id=f"user:{self.person.user_id}",
            company_id=self.account.company_id,
            account_id=None,
            permissions=frozenset(),
        )
        return Caller(principal, self.account)


def admit_staff(now: Now) -> Callable[[Call], BackOfficeCaller]:
    """Return what turns a call of a known person into what operations take."""

    def admit(call: Call) -> BackOfficeCaller:
        if call.person is None or call.scope is None:
            raise _missing()
        acting = AuditContext(call.person.actor, now)
        return BackOfficeCaller(call.person, acting, call.scope, _expected(call))

    return admit


def admit_office(now: Now) -> Callable[[Call], AccountCaller]:
    """Return what turns a call on an account into what operations take."""

    def admit(call: Call) -> AccountCaller:
        person, scope, account = call.person, call.scope, call.account
        if person is None or scope is None or account is None:
            raise _missing()
        return AccountCaller(
            person=person,
            acting=AuditContext(person.actor, now),
            scope=scope,
            account=account,
            expected=_expected(call),
        )

    return admit


def in_scope(
    run: Callable[[CompanyScope, Taken], Awaitable[Result]],
) -> Callable[[BackOfficeCaller, Taken], Awaitable[Result]]:
    """Run what searches within the caller's company scope."""

    async def runs(who: BackOfficeCaller, taken: Taken) -> Result:
        return await run(who.scope, taken)

    return runs


def as_administrator(
    services: AdminServices, run: Callable[[AdminServices, Taken], Awaitable[Result]]
) -> Callable[[BackOfficeCaller, Taken], Awaitable[Result]]:
    """Run an administrator's act: in their name, on what is in their scope."""

    async def runs(who: BackOfficeCaller, taken: Taken) -> Result:
        with explained():
            return await run(services.by(who.acting, who.scope), taken)

    return runs


def as_caller(
    run: Callable[[Caller, Taken], Awaitable[Result]],
) -> Callable[[AccountCaller, Taken], Awaitable[Result]]:
    """Run what partners run."""

    async def runs(who: AccountCaller, taken: Taken) -> Result:
        return await run(who.caller, taken)

    return runs


def on_account(
    run: Callable[[Account, Taken], Awaitable[Result]],
) -> Callable[[AccountCaller, Taken], Awaitable[Result]]:
    """Run what needs the account alone."""

    async def runs(who: AccountCaller, taken: Taken) -> Result:
        return await run(who.account, taken)

    return runs


def as_actor(
    run: Callable[[AuditContext, Account, Taken], Awaitable[Result]],
) -> Callable[[AccountCaller, Taken], Awaitable[Result]]:
    """Run what is recorded as an act of a person."""

    async def runs(who: AccountCaller, taken: Taken) -> Result:
        return await run(who.acting, who.account, taken)

    return runs


def _expected(call: Call) -> Expected:
    """Read which versions a caller has seen; mostly they do not say."""
    headers = call.asked.headers.getall(hdrs.IF_MATCH, ())
    return expected(headers) if headers else ANY_VERSION


def _missing() -> RuntimeError:
    problem = "a policy of this gate is missing"
    return RuntimeError(problem)
