"""The panel's own rows: its session, signing in and out, and stepping up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.identity.errors import (
    CSRF_FAILED,
    MFA_EXPIRED,
    MFA_INVALID,
    PASSWORD_WRONG,
    SESSION_REQUIRED,
    STEP_UP_REQUIRED,
    TOKEN_INVALID,
    TOO_MANY_ATTEMPTS,
)
from gateway.domain.identity.panel_sessions import Browser
from gateway.domain.kernel.errors import ServiceError
from gateway.http.identity.callers import AnonymousCaller, SignedInCaller
from gateway.http.identity.routes import (
    FAILS,
    LEAVING,
    NO_CONTENT,
    OWN_BODY,
    SECOND_FACTOR,
    SIGN_IN,
)
from gateway.http.panel.represent import PanelResponses
from gateway.http.route import Row, RowLimits, route
from gateway.operations.identity.services import IdentityServices
from gateway.operations.panel.sessions import PanelSessionRecords
from gateway.operations.panel.view import PanelView, PanelViews
from policies.validation.identity import CODE, LOGIN, CodeBody, LoginBody
from policies.validation.inputs import NOTHING

_SESSION = RowLimits("anonymous", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSessionActions:
    """What the rows run."""

    records: PanelSessionRecords
    views: PanelViews
    services: IdentityServices

    async def session(self, who: AnonymousCaller, _taken: None) -> PanelView:
        """Show the session without extending its idle time."""
        return await self.views.visit(who.browser)

    async def login(self, who: AnonymousCaller, body: LoginBody) -> PanelView:
        """Sign in by password."""
        browser = _present(who.browser)
        new = await self.records.login(browser, body.email, body.password, who.client)
        return await self.views.with_new_cookie(new)

    async def submit_code(self, who: AnonymousCaller, body: CodeBody) -> PanelView:
        """Finish the sign-in of this browser by a code."""
        browser = _present(who.browser)
        new = await self.records.submit_code(browser, body.code, who.client)
        return await self.views.with_new_cookie(new)

    async def logout(self, who: AnonymousCaller, _taken: None) -> None:
        """Sign out; safe to repeat."""
        await self.records.logout(who.browser)

    async def step_up(self, who: SignedInCaller, body: CodeBody) -> PanelView:
        """Step up by a code; the browser gets a new cookie."""
        await self.services.second_factors.step_up(who.person, body.code)
        new = await self.records.rotate(_present(who.browser))
        return await self.views.with_new_cookie(new)


def _present(browser: Browser | None) -> Browser:
    """Return the browser that the policies found."""
    if browser is None:
        raise ServiceError(CSRF_FAILED, "token")
    return browser


def session_rows(
    actions: PanelSessionActions, shows: PanelResponses
) -> Sequence[Row[AnonymousCaller]]:
    """Return the row that a page calls first; it is served by the surface of identity."""
    return (
        route(
            "GET",
            "/auth/session",
            name="identity.session",
            summary="Show the browser's session, signed in or not; always 200, by cookie alone.",
            needs=None,
            limits=_SESSION,
            takes=NOTHING,
            runs=actions.session,
            shows=shows.session,
            fails=FAILS,
            raises=(),
        ),
    )


def sign_in_rows(
    actions: PanelSessionActions, shows: PanelResponses
) -> Sequence[Row[AnonymousCaller]]:
    """Return the rows that sign in."""
    return (
        route(
            "POST",
            "/auth/login",
            name="panel.login",
            summary="Sign this browser in. Returns its session, which may ask for a second factor.",
            needs=None,
            limits=SIGN_IN,
            takes=LOGIN,
            runs=actions.login,
            shows=shows.session,
            fails=FAILS,
            raises=(PASSWORD_WRONG, SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
        ),
        route(
            "POST",
            "/auth/mfa",
            name="panel.mfa",
            summary="Finish the sign-in of this browser with a code.",
            needs=None,
            limits=SECOND_FACTOR,
            takes=CODE,
            runs=actions.submit_code,
            shows=shows.session,
            fails=FAILS,
            raises=(
                *(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG),
                *(SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
            ),
        ),
    )


def logout_rows(
    actions: PanelSessionActions, shows: PanelResponses
) -> Sequence[Row[AnonymousCaller]]:
    """Return the row that signs out."""
    return (
        route(
            "POST",
            "/auth/logout",
            name="panel.logout",
            summary="Sign this browser out; safe to repeat.",
            needs=None,
            limits=LEAVING,
            takes=NOTHING,
            runs=actions.logout,
            shows=shows.left,
            fails=FAILS,
            raises=(),
            status=NO_CONTENT,
        ),
    )


def step_up_rows(
    actions: PanelSessionActions, shows: PanelResponses
) -> Sequence[Row[SignedInCaller]]:
    """Return the row that steps up."""
    return (
        route(
            "POST",
            "/auth/step-up",
            name="panel.step_up",
            summary="Submit a code of the second factor; it counts as recent for five minutes.",
            needs=None,
            limits=OWN_BODY,
            takes=CODE,
            runs=actions.step_up,
            shows=shows.session,
            fails=FAILS,
            raises=(
                *(MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID),
                *(SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
            ),
        ),
    )
