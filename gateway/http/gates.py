"""The gates in front of each surface's routes: authentication, rights and quotas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from aiohttp import hdrs

from gateway.core import errors, user_errors
from gateway.core.access import Staff
from gateway.core.account import Account, Environment
from gateway.core.audit_context import AuditContext
from gateway.core.browsers import Browser, ClientInfo
from gateway.core.calls import Call, Caller, Policy
from gateway.core.catalogue import ErrorCode
from gateway.core.clocks import Now
from gateway.core.sessions import SignedInUser
from gateway.core.versions import ANY_VERSION, Expected, expected
from gateway.http import introduction
from gateway.http.route import Gate, Surface
from gateway.http.routing import BODY_BYTES as LARGEST_BODY
from gateway.http.routing import Routes
from policies.authentication.basic import BasicCredentials
from policies.authentication.bearer import BearerToken
from policies.authentication.session import BrowserCookie, DeviceCookie, SessionCookie
from policies.authorization.credential import (
    AccountScope,
    AccountState,
    FromAllowedCaller,
    RequiresPermission,
)
from policies.authorization.user import (
    DecidesCompanyScope,
    FreshFactor,
    RequiresRight,
    RequiresSecondFactor,
    VisibleAccount,
)
from policies.traffic.csrf import CsrfToken, Origin, ReadFromOurPage, WriteFromOurPage
from policies.traffic.quota import WithinAddressQuota, WithinPersonQuota, WithinQuota
from policies.traffic.throttle import NotBlocked
from policies.validation.parameters import Identifiers, KnownParameters

PARTNER_PREFIX: Final = "/baas/v1"
EVENTS_PREFIX: Final = "/events/v1"
SANDBOX_PREFIX: Final = "/sandbox/v1"
PARTNER_CHALLENGE: Final = 'Basic realm="baas", charset="UTF-8"'
USER_CHALLENGE: Final = 'Bearer realm="iam"'
"""Never Basic: a browser would open its own password dialog."""
BODY_BYTES: Final = 16 * 1024
"""The largest body of identity and the panel."""
EVERY_CODE: Final[tuple[ErrorCode, ...]] = (*errors.CATALOGUE, *user_errors.CATALOGUE)


def admit_anybody(_call: Call) -> None:
    """Admit a call without authentication."""


def admit_partner(call: Call) -> Caller:
    """Return the partner of a call, and the account."""
    if call.principal is None or call.account is None:
        raise _missing()
    return Caller(call.principal, call.account)


@dataclass(frozen=True, slots=True)
class AnonymousCaller:
    """
    A caller who has not signed in.

    Attributes:
        browser: None for API callers, and for a browser without a cookie.
    """

    client: ClientInfo
    browser: Browser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInCaller:
    """
    A caller who has signed in.

    Attributes:
        logout_headers: Response headers for answers that end the session.
    """

    person: SignedInUser
    client: ClientInfo
    browser: Browser | None = None
    logout_headers: Mapping[str, str] = field(default_factory=dict)


def admit_anonymous(call: Call) -> AnonymousCaller:
    """Return the caller of a call before the sign-in."""
    return AnonymousCaller(_client(call), call.browser)


def admit_signed_in(call: Call) -> SignedInCaller:
    """Return the caller of a call that was authenticated."""
    if call.person is None:
        raise _missing()
    return SignedInCaller(person=call.person, client=_client(call), browser=call.browser)


def _client(call: Call) -> ClientInfo:
    agent = call.asked.headers.get("User-Agent") or ""
    return ClientInfo(address=call.asked.address, user_agent=agent, known=call.known)


@dataclass(frozen=True, slots=True)
class StaffCaller:
    """
    A user in the back office.

    Attributes:
        staff: The gate has required a second factor where it must.
        expected: The versions that they have read of the records to change.
    """

    staff: Staff
    expected: Expected = ANY_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCaller(StaffCaller):
    """A user at one account, which is in their scope."""

    account: Account


def admit_staff(now: Now) -> Callable[[Call], StaffCaller]:
    """Return the function that builds a staff call's caller; acts are dated by ``now``."""
    return lambda call: StaffCaller(*_staff(call, now))


def admit_at_account(now: Now) -> Callable[[Call], AccountCaller]:
    """Return the function that builds the caller of a user's call on an account."""

    def admit(call: Call) -> AccountCaller:
        staff, seen = _staff(call, now)
        if call.account is None:
            raise _missing()
        return AccountCaller(staff=staff, expected=seen, account=call.account)

    return admit


def _staff(call: Call, now: Now) -> tuple[Staff, Expected]:
    if call.person is None or call.scope is None:
        raise _missing()
    headers = call.asked.headers.getall(hdrs.IF_MATCH, ())
    staff = Staff(AuditContext(call.person.actor, now), call.scope, call.person)
    return staff, expected(headers) if headers else ANY_VERSION


def _missing() -> RuntimeError:
    problem = "a policy of this gate is missing"
    return RuntimeError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPolicies:
    """
    The policies that apply to users on every surface.

    Attributes:
        factor: The second factor, required of some roles before changes.
        address_quota: Before the caller is known.
        user_quota: Afterwards; the same buckets everywhere, since a user has one.
        origin: The origin of our own pages.
    """

    bearer: BearerToken
    factor: RequiresSecondFactor
    address_quota: WithinAddressQuota
    user_quota: WithinPersonQuota
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPolicies:
    """
    The policies of cookie gates.

    Attributes:
        users: Checks of users on every surface. Their quotas come after the checks of
            the origin, so that a foreign page cannot use them up.
    """

    users: UserPolicies
    browser: BrowserCookie
    device: DeviceCookie
    session: SessionCookie

    @property
    def reads(self) -> Sequence[Policy]:
        """The policies of reads by our scripts."""
        return (ReadFromOurPage(origin=self.users.origin, marked=True), self.session)

    @property
    def writes(self) -> Sequence[Policy]:
        """The policies of writes by our scripts."""
        return (WriteFromOurPage(self.users.origin), self.session, CsrfToken())


def open_gate(surface: str, environment: Environment, catalogue: Sequence[ErrorCode]) -> Gate[None]:
    """Return the gate that admits everybody; ``catalogue`` holds the codes of the surface."""
    return Gate(
        policies=(),
        admits=admit_anybody,
        routes=introduction.routes(surface, environment, catalogue).declared,
        opens="what the service is, before anybody has a credential",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartnerPolicies:
    """The policies of the partners' gate that need something of their own, in their order."""

    credentials: BasicCredentials
    quota: WithinQuota
    callers: FromAllowedCaller
    scope: AccountScope


def partner_surface(
    nouns: Sequence[Routes], policies: PartnerPolicies, environment: Environment
) -> Surface:
    """Return the surface of partners."""
    return Surface(
        name="banking",
        prefix=PARTNER_PREFIX,
        gates=(_partner_gate(nouns, policies), open_gate("banking", environment, errors.CATALOGUE)),
        challenge=PARTNER_CHALLENGE,
        body_bytes=LARGEST_BODY,
    )


def events_surface(nouns: Sequence[Routes], policies: PartnerPolicies) -> Surface:
    """Return the surface of events: an extension, behind the same checks as the contract's."""
    return Surface(
        name="events",
        prefix=EVENTS_PREFIX,
        gates=(_partner_gate(nouns, policies),),
        challenge=PARTNER_CHALLENGE,
        body_bytes=LARGEST_BODY,
    )


def sandbox_surface(
    nouns: Sequence[Routes],
    opened: Routes,
    policies: PartnerPolicies,
    address_quota: WithinAddressQuota,
) -> Surface:
    """
    Return the surface by which partners drive a sandbox, behind the same checks.

    ``opened`` are the routes that are called before there is a credential.
    """
    everybody = Gate(
        policies=(address_quota,),
        admits=admit_anonymous,
        routes=opened.declared,
        opens="a partner gets the first credential by itself",
    )
    return Surface(
        name="sandbox",
        prefix=SANDBOX_PREFIX,
        gates=(_partner_gate(nouns, policies), everybody),
        challenge=PARTNER_CHALLENGE,
        body_bytes=LARGEST_BODY,
    )


def _partner_gate(nouns: Sequence[Routes], policies: PartnerPolicies) -> Gate[Caller]:
    return Gate(
        policies=(
            NotBlocked(policies.credentials.throttle),
            policies.credentials,
            policies.quota,
            policies.callers,
            RequiresPermission(),
            Identifiers(),
            policies.scope,
            AccountState(),
        ),
        admits=admit_partner,
        routes=list(chain.from_iterable(each.declared for each in nouns)),
        scheme="basic",
    )


def staff_surface(
    nouns: Sequence[Routes],
    policies: UserPolicies,
    account: VisibleAccount,
    now: Now,
    environment: Environment,
) -> Surface:
    """
    Return the surface of the back office; acts are dated by ``now``.

    Its gates check the user, the right, the age of the second factor, and then the account.
    """
    known = (
        *(policies.bearer, policies.user_quota),
        *(RequiresRight(), policies.factor),
        DecidesCompanyScope(),
    )
    named = (Identifiers(), KnownParameters())
    user = (*known, FreshFactor(now), *named)
    fresh = (*known, FreshFactor(now, always=True), *named)
    visible = (*user, account)
    active = (*visible, AccountState())
    active_fresh = (*fresh, account, AccountState())
    staff, at_account = admit_staff(now), admit_at_account(now)
    parts = (
        (user, staff, [each.staff for each in nouns]),
        (fresh, staff, [each.fresh for each in nouns]),
        (visible, at_account, [each.visible for each in nouns]),
        (active, at_account, [each.active for each in nouns]),
        (active_fresh, at_account, [each.active_fresh for each in nouns]),
    )
    return Surface(
        name="backoffice",
        prefix="/backoffice/v1",
        gates=(
            *(
                Gate(
                    policies=asked,
                    admits=admits,
                    routes=list(chain.from_iterable(routes)),
                    scheme="bearer",
                )
                for asked, admits, routes in parts
            ),
            open_gate("backoffice", environment, EVERY_CODE),
        ),
        challenge=USER_CHALLENGE,
        body_bytes=max((each.largest_body for each in nouns), default=LARGEST_BODY),
        explains=True,
    )
