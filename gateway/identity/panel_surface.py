"""The surface of the panel: gates behind a cookie, each with its defences against CSRF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NotRequired, TypedDict, TypeVar

from msgspec import Meta

from gateway.core import fields
from gateway.core.account import Environment
from gateway.core.browsers import KNOWN_FOR, ClientInfo
from gateway.core.calls import Call
from gateway.core.fields import meaning
from gateway.core.priority import Priority
from gateway.core.rights import Role, changes
from gateway.core.sessions import SignedInUser, public_id
from gateway.core.user_access import CONFIRMING, LEAVING
from gateway.core.user_errors import (
    MFA_EXPIRED,
    MFA_INVALID,
    NOT_POSSIBLE,
    PASSKEY_INVALID,
    PASSWORD_WRONG,
    SESSION_REQUIRED,
    SIGN_IN_REFUSED,
    STEP_UP_REQUIRED,
    TOKEN_INVALID,
    TOO_MANY_ATTEMPTS,
)
from gateway.http.gates import (
    BODY_BYTES,
    AnonymousCaller,
    PanelPolicies,
    SignedInCaller,
    admit_anonymous,
    admit_signed_in,
)
from gateway.http.panel.pages.kept import KeptForms
from gateway.http.panel.pages.templates import Templates
from gateway.http.panel.static import StaticFiles
from gateway.http.route import Answer, Gate, Route, Surface
from gateway.identity.cookies import DeviceCookies
from gateway.identity.documents import (
    CODE,
    LOGIN,
    PASSKEY,
    Epoch,
    PublicId,
    assertion_options,
    epoch,
)
from gateway.identity.panel_sessions import PanelSessions, PanelView, SignedInView
from gateway.identity.services import IdentityServices
from gateway.identity.surface import (
    SECOND_FACTOR,
    SIGN_IN,
    account_routes,
    own_routes,
    recovery_routes,
)
from policies.authentication.session import SET_COOKIE, CookieForm
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage

NAME = "panel"
CHALLENGE = 'Bearer realm="iam"'
_BEFORE = "these routes are called before the sign-in"
_OWN = "every signed-in user may do this to their own account"
_LEAVING = "signing out twice is no error"

Who = TypeVar("Who")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """
    The panel's sessions; ``sessions`` is closed in the end.

    Attributes:
        responses: How sessions and their cookies are answered.
        kept: Forms that were sent after the session had ended.
        static: Styles, scripts, fonts and icons of the pages.
        templates: The pages' templates; set up on the application that serves them.
    """

    sessions: PanelSessions
    identity: IdentityServices
    responses: PanelResponses
    policies: PanelPolicies
    kept: KeptForms
    static: StaticFiles
    templates: Templates


def session_gate(panel: Panel) -> Gate[AnonymousCaller]:
    """Return the gate of the session route, which a page calls before the sign-in."""
    policies, routes = panel.policies, own_routes("identity", Priority.STRANGERS)
    routes.get(
        "/session",
        "session",
        panel.sessions.visit,
        shows=panel.responses.session,
        quota="anonymous",
    )
    return Gate(
        policies=(
            ReadFromOurPage(origin=policies.users.origin, marked=False),
            policies.users.address_quota,
            policies.browser,
        ),
        admits=admit_anonymous,
        routes=routes.declared,
        scheme="session",
        opens="a page learns here whether its browser is signed in",
    )


def panel_surface(panel: Panel) -> Surface:
    """Build the surface from its gates."""
    return Surface(
        name=NAME,
        prefix="/panel",
        gates=(
            _strangers(panel),
            _leaving(panel),
            *_members(panel),
        ),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        explains=True,
    )


def _members(panel: Panel) -> Sequence[Gate[SignedInCaller]]:
    policies, own = panel.policies, own_routes(NAME, Priority.PAGES)
    own.post(
        "/step-up",
        "step_up",
        panel.sessions.step_up,
        shows=panel.responses.session,
        fields=CODE,
        quota=CONFIRMING,
        raises=(
            *(MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID),
            *(SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
        ),
    )
    own.post(
        "/step-up/passkey",
        "step_up_passkey",
        panel.sessions.step_up_by_passkey,
        shows=panel.responses.session,
        fields=PASSKEY,
        quota=CONFIRMING,
        raises=(PASSKEY_INVALID, TOKEN_INVALID, SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
    )
    routes = (*own.declared, *account_routes(NAME, panel.identity).declared)

    def admit(call: Call) -> SignedInCaller:
        """Return the caller with the headers that clear the browser at logout."""
        return replace(admit_signed_in(call), logout_headers=panel.responses.logout_headers)

    parts = ((policies.reads, _reading(routes)), (policies.writes, _writing(routes)))
    return [
        Gate(
            policies=(*asked, policies.users.user_quota),
            admits=admit,
            routes=part,
            scheme="session",
            opens=_OWN,
        )
        for asked, part in parts
    ]


def _strangers(panel: Panel) -> Gate[AnonymousCaller]:
    """Return the gate of signing in; its CSRF token prevents login by a foreign page."""
    policies, sessions, shows = panel.policies, panel.sessions, panel.responses.session
    routes = own_routes(NAME, Priority.STRANGERS)
    refused = (SESSION_REQUIRED, TOO_MANY_ATTEMPTS)
    routes.post(
        "/login",
        "login",
        sessions.login,
        shows=shows,
        fields=LOGIN,
        quota=SIGN_IN,
        raises=(PASSWORD_WRONG, SIGN_IN_REFUSED, *refused),
    )
    routes.post(
        "/mfa",
        "mfa",
        sessions.submit_code,
        shows=shows,
        fields=CODE,
        quota=SECOND_FACTOR,
        raises=(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG, SIGN_IN_REFUSED, *refused),
    )
    routes.post(
        "/login/passkey/options",
        "login_passkey_options",
        sessions.passkey_options,
        shows=assertion_options,
        quota="anonymous",
        raises=(NOT_POSSIBLE,),
    )
    routes.post(
        "/login/passkey",
        "login_passkey",
        sessions.login_by_passkey,
        shows=shows,
        fields=PASSKEY,
        quota=SIGN_IN,
        raises=(PASSKEY_INVALID, PASSWORD_WRONG, SIGN_IN_REFUSED, *refused),
    )
    return Gate(
        policies=(
            WriteFromOurPage(policies.users.origin),
            policies.browser,
            CsrfToken(),
            policies.device,
            policies.users.address_quota,
        ),
        admits=admit_anonymous,
        routes=(
            *routes.declared,
            *recovery_routes(NAME, panel.identity, panel.responses.remembered).declared,
        ),
        scheme="session",
        opens=_BEFORE,
    )


def _leaving(panel: Panel) -> Gate[AnonymousCaller]:
    routes, logout = own_routes(NAME, Priority.ALWAYS), panel.sessions.logout
    routes.post("/logout", "logout", logout, shows=panel.responses.left, quota=LEAVING)
    return Gate(
        policies=(
            WriteFromOurPage(panel.policies.users.origin),
            panel.policies.browser,
            CsrfToken(without_session=True),
        ),
        admits=admit_anonymous,
        routes=routes.declared,
        scheme="session",
        opens=_LEAVING,
    )


def _reading(routes: Sequence[Route[Who]]) -> list[Route[Who]]:
    return [route for route in routes if route.method == "GET"]


def _writing(routes: Sequence[Route[Who]]) -> list[Route[Who]]:
    return [route for route in routes if route.method != "GET"]


_CLEAR = {"Clear-Site-Data": '"cache", "storage"'}
"""Not cookies: the session's is cleared by name, the device's stays for the next sign-in."""


@dataclass(frozen=True, slots=True)
class PanelResponses:
    """
    Answers with sessions and their cookies.

    Attributes:
        form: How cookies are written.
        factor_roles: Users with one of these roles need a second factor for every change.
    """

    form: CookieForm
    environment: Environment
    devices: DeviceCookies
    factor_roles: frozenset[Role]

    @property
    def logout_headers(self) -> Mapping[str, str]:
        """The headers that clear the browser."""
        return {SET_COOKIE: self.form.taken, **_CLEAR}

    def session(
        self, view: PanelView, who: AnonymousCaller | SignedInCaller
    ) -> Answer[SessionDocument]:
        """Show a session, and set its cookie if it is new."""
        return Answer(content=self._session(view), cookies=self.cookies(view, who.client))

    def cookies(self, view: PanelView, client: ClientInfo) -> Sequence[str]:
        """Return the headers that set a new cookie, and that of the device of a user."""
        if not view.new_cookie:
            return ()
        given = self.form.given(view.browser.cookie)
        if view.signed_in is None:
            return (given,)
        return (given, self.device(view.signed_in.person.user_id, client))

    def remembered(self, user_id: str, who: AnonymousCaller) -> Answer[None]:
        """Answer without a body, and remember the browser: its user can read the mail."""
        return Answer(content=None, cookies=[self.device(user_id, who.client)])

    def left(self, _done: None, _who: AnonymousCaller) -> Answer[None]:
        """Answer without a body, and clear the browser."""
        return Answer(content=None, headers=self.logout_headers)

    def device(self, user_id: str, client: ClientInfo) -> str:
        """Return the header that sets the device cookie."""
        return self.form.remembered(self.devices.make(user_id, client.known), KNOWN_FOR)

    def _session(self, view: PanelView) -> SessionDocument:
        shown: SessionDocument = {
            "authenticated": view.signed_in is not None,
            "mfa_required": view.is_pending,
            "csrf_token": view.browser.panel.csrf,
            "environment": self.environment.value,
        }
        if view.signed_in is not None:
            shown["expires_at"] = epoch(view.browser.panel.ends_at)
            _add_person(shown, view.signed_in, self.factor_roles)
        return shown


def _add_person(shown: SessionDocument, view: SignedInView, roles: frozenset[Role]) -> None:
    """Add the user and their permissions; ``roles`` need a second factor for changes."""
    who, lacks = view.person, view.person.lacks_factor(roles)
    shown["user"] = {"id": who.user_id, "name": who.name, "email": who.email}
    shown["roles"] = sorted(who.roles)
    held = {right for right in who.rights if not (lacks and changes(right))}
    shown["permissions"] = sorted(str(right) for right in held)
    company = view.company
    shown["company"] = None if company is None else {"id": company.id, "name": company.name}
    shown["mfa"] = _factor(who, view.codes_left, is_required=not roles.isdisjoint(who.roles))
    shown["idle_expires_at"] = epoch(view.idle_ends_at)
    shown["session_id"] = public_id(who.session_id)


def _factor(who: SignedInUser, codes_left: int, *, is_required: bool) -> FactorDocument:
    """Show the state of the second factor."""
    verified_at = None if who.factor_at is None else epoch(who.factor_at)
    return {
        "enrolled": who.has_factor,
        "verified_at": verified_at,
        "recovery_codes_left": codes_left,
        "required": is_required,
    }


class SeatedUserDocument(TypedDict):
    """The signed-in user."""

    id: fields.Id
    name: fields.PersonName
    email: fields.Email


class OwnCompanyDocument(TypedDict):
    """The company of a user who sees only one."""

    id: fields.Id
    name: fields.CompanyName


class FactorDocument(TypedDict):
    """The second factor; ``verified_at`` is when a code was last given in this session."""

    enrolled: Annotated[bool, meaning("Whether the user has an app or a passkey.")]
    verified_at: Annotated[
        Epoch | None,
        meaning("When the second factor was given last; empty for never.", 1_790_085_011),
    ]
    recovery_codes_left: Annotated[int, meaning("Recovery codes that were not used yet.")]
    required: Annotated[bool, meaning("Whether the user's role must have a second factor.")]


class SessionDocument(TypedDict):
    """A browser's session; the user's fields are present once they have signed in."""

    authenticated: Annotated[bool, meaning("Whether somebody is signed in.")]
    mfa_required: Annotated[
        bool, meaning("Whether a second factor is asked for: `true` until it is given.")
    ]
    csrf_token: Annotated[str, meaning("Send it as X-CSRF-Token with every write.", "kq3Zy2pZ0m1h")]
    environment: Annotated[
        Literal["sandbox", "production"], meaning("`sandbox` or `production`.", "sandbox")
    ]
    user: NotRequired[SeatedUserDocument]
    roles: NotRequired[fields.Roles]
    permissions: NotRequired[
        Annotated[
            list[str], meaning("What the user may do, such as `payout:write`.", ["balance:read"])
        ]
    ]
    company: NotRequired[
        Annotated[
            OwnCompanyDocument | None,
            meaning("The company that the user is limited to, if it is one alone."),
        ]
    ]
    mfa: NotRequired[FactorDocument]
    expires_at: NotRequired[Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_085_011})]]
    idle_expires_at: NotRequired[
        Annotated[Epoch, Meta(extra_json_schema={"example": 1_790_085_011})]
    ]
    session_id: NotRequired[PublicId]
