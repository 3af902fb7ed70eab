"""The surface of the panel: gates behind a cookie, each with its defences against CSRF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.core.calls import Call
from gateway.core.user_errors import (
    MFA_EXPIRED,
    MFA_INVALID,
    PASSWORD_WRONG,
    SESSION_REQUIRED,
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
from gateway.http.route import Gate, Route, Surface
from gateway.identity.bodies import CODE, LOGIN
from gateway.identity.panel_representation import PanelResponses
from gateway.identity.panel_view import PanelViews
from gateway.identity.services import IdentityServices
from gateway.identity.user_routes import (
    LEAVING,
    SECOND_FACTOR,
    SIGN_IN,
    account_routes,
    own_routes,
    recovery_routes,
)
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
    The panel's sessions; ``views.records.tokens`` is closed in the end.

    Attributes:
        responses: How sessions and their cookies are answered.
        kept: Forms that were sent after the session had ended.
        static: Styles, scripts, fonts and icons of the pages.
        templates: Of the pages; set up on the application that serves them.
    """

    views: PanelViews
    services: IdentityServices
    responses: PanelResponses
    policies: PanelPolicies
    kept: KeptForms
    static: StaticFiles
    templates: Templates


def session_gate(panel: Panel) -> Gate[AnonymousCaller]:
    """Return the gate of the session route, which a page calls before the sign-in."""
    policies, routes = panel.policies, own_routes("identity")
    routes.get(
        "/session",
        "session",
        panel.views.visit,
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
        exempt=frozenset({"panel.logout"}),
        explains=True,
    )


def _members(panel: Panel) -> Sequence[Gate[SignedInCaller]]:
    """Return the gates of signed-in users: one for reads, one for writes."""
    policies, own = panel.policies, own_routes(NAME)
    own.post(
        "/step-up",
        "step_up",
        panel.views.step_up,
        shows=panel.responses.session,
        fields=CODE,
        raises=(
            *(MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID),
            *(SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
        ),
    )
    routes = (*own.declared, *account_routes(NAME, panel.services).declared)

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
    policies, views, shows = panel.policies, panel.views, panel.responses.session
    routes, refused = own_routes(NAME), (SESSION_REQUIRED, TOO_MANY_ATTEMPTS)
    routes.post(
        "/login",
        "login",
        views.login,
        shows=shows,
        fields=LOGIN,
        quota=SIGN_IN,
        raises=(PASSWORD_WRONG, *refused),
    )
    routes.post(
        "/mfa",
        "mfa",
        views.submit_code,
        shows=shows,
        fields=CODE,
        quota=SECOND_FACTOR,
        raises=(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG, *refused),
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
            *recovery_routes(NAME, panel.services, panel.responses.remembered).declared,
        ),
        scheme="session",
        opens=_BEFORE,
    )


def _leaving(panel: Panel) -> Gate[AnonymousCaller]:
    """Return the gate of signing out."""
    routes, logout = own_routes(NAME), panel.views.records.logout
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
