"""The panel's own rows: its session, signing in and out, and stepping up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.domain.identity.browsers import Browser
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
from gateway.domain.kernel.errors import ServiceError
from gateway.http.identity.account_routes import (
    FAILS,
    LEAVING,
    NO_CONTENT,
    OWN_BODY,
    SECOND_FACTOR,
    SIGN_IN,
)
from gateway.http.identity.callers import Guest, Member
from gateway.http.panel.represent import PanelShows
from gateway.http.route import Row, RowLimits, route
from gateway.operations.identity.services import IdentityDesk
from gateway.operations.panel.sessions import PanelSessionRecords
from gateway.operations.panel.view import PanelView, PanelViews
from policies.validation.identity import CODE, LOGIN, CodeBody, LoginBody
from policies.validation.inputs import NOTHING

_SESSION = RowLimits("anonymous", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelActs:
    """What the rows run."""

    records: PanelSessionRecords
    views: PanelViews
    desk: IdentityDesk

    async def session(self, who: Guest, _taken: None) -> PanelView:
        """Look at the session; its idle time does not slide."""
        return await self.views.visit(who.browser, who.visitor)

    async def login(self, who: Guest, body: LoginBody) -> PanelView:
        """Take a password."""
        browser = _present(who.browser)
        new = await self.records.login(browser, body.email, body.password, who.visitor)
        return await self.views.risen(new)

    async def give_factor(self, who: Guest, body: CodeBody) -> PanelView:
        """Take a code for the challenge of this browser."""
        browser = _present(who.browser)
        new = await self.records.give_factor(browser, body.code, who.visitor)
        return await self.views.risen(new)

    async def logout(self, who: Guest, _taken: None) -> None:
        """Sign out; safe to repeat."""
        await self.records.leave(who.browser)

    async def step_up(self, who: Member, body: CodeBody) -> PanelView:
        """Take a code now; the browser gets a new cookie."""
        await self.desk.factors.step_up(who.person, body.code)
        return await self.views.risen(await self.records.raised(_present(who.browser)))


def _present(browser: Browser | None) -> Browser:
    """Return the browser that the policies have found."""
    if browser is None:
        raise ServiceError(CSRF_FAILED, "token")
    return browser


def session_rows(does: PanelActs, shows: PanelShows) -> Sequence[Row[Guest]]:
    """Return the row that a page asks first; it stands on the surface of identity."""
    return (
        route(
            "GET",
            "/auth/session",
            name="identity.session",
            summary="The browser's session, signed in or not; always 200, by cookie alone.",
            needs=None,
            limits=_SESSION,
            takes=NOTHING,
            runs=does.session,
            shows=shows.session,
            fails=FAILS,
            raises=(),
        ),
    )


def entrance_rows(does: PanelActs, shows: PanelShows) -> Sequence[Row[Guest]]:
    """Return the rows that sign in."""
    return (
        route(
            "POST",
            "/auth/login",
            name="panel.login",
            summary="Sign this browser in; answers its session, or that a code is asked for.",
            needs=None,
            limits=SIGN_IN,
            takes=LOGIN,
            runs=does.login,
            shows=shows.session,
            fails=FAILS,
            raises=(PASSWORD_WRONG, SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
        ),
        route(
            "POST",
            "/auth/mfa",
            name="panel.mfa",
            summary="Give the code that this browser was asked for.",
            needs=None,
            limits=SECOND_FACTOR,
            takes=CODE,
            runs=does.give_factor,
            shows=shows.session,
            fails=FAILS,
            raises=(
                *(MFA_INVALID, MFA_EXPIRED, PASSWORD_WRONG),
                *(SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
            ),
        ),
    )


def leaving_rows(does: PanelActs, shows: PanelShows) -> Sequence[Row[Guest]]:
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
            runs=does.logout,
            shows=shows.left,
            fails=FAILS,
            raises=(),
            status=NO_CONTENT,
        ),
    )


def rising_rows(does: PanelActs, shows: PanelShows) -> Sequence[Row[Member]]:
    """Return the row that steps up."""
    return (
        route(
            "POST",
            "/auth/step-up",
            name="panel.step_up",
            summary="Give a code now; for five minutes it counts as fresh.",
            needs=None,
            limits=OWN_BODY,
            takes=CODE,
            runs=does.step_up,
            shows=shows.session,
            fails=FAILS,
            raises=(
                *(MFA_INVALID, STEP_UP_REQUIRED, TOKEN_INVALID),
                *(SESSION_REQUIRED, TOO_MANY_ATTEMPTS),
            ),
        ),
    )
