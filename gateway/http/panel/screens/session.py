"""Signing in and out, and what a browser remembers of how the panel looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from gateway.domain.identity.errors import PASSWORD_WRONG
from gateway.domain.identity.panel_sessions import PanelState
from gateway.domain.identity.users import Preferences
from gateway.domain.kernel.errors import ServiceError
from gateway.http.identity.callers import AnonymousCaller, SignedInCaller
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import (
    HOME,
    LANGUAGE_COOKIE,
    THEME_COOKIE,
    Language,
    Theme,
    Visit,
    own_path,
)
from gateway.http.panel.routes import PanelSessionActions
from policies.authentication.session import CookieForm
from policies.validation.identity import CodeBody

_YEAR_S = 365 * 24 * 3600
RECOVERY: Final = "recovery"
"""The way to sign in without the authenticator app."""

_KEYS: Final[Mapping[str, bool]] = {"on": True, "off": False}

DONE: Final = frozenset({"reset", "invitation"})
"""What somebody has just done who comes to sign in."""


@dataclass(frozen=True, slots=True)
class SessionPages:
    """The pages of a browser's session."""

    rows: RowCalls
    actions: PanelSessionActions
    form: CookieForm

    async def sign_in(self, visit: Visit) -> Result:
        """Show the sign-in; a browser without a session gets one, for its token."""
        to = _next(visit)
        if visit.is_foreign:
            return Shown(template="session/continue.html", data={"next": to})
        await self.begin(visit)
        if visit.browser is not None and visit.browser.panel.state is PanelState.FULL:
            return Redirect(to)
        done = visit.query("done")
        said = done if done in DONE else ""
        return Shown(template="session/sign_in.html", data={"next": to, "done": said})

    async def submit_password(self, visit: Visit) -> Result:
        """Sign in by password; a second factor is asked for on the next page."""
        email, password = visit.form["email"], visit.form.exactly("password")
        if not email or not password:
            raise ServiceError(PASSWORD_WRONG, "password")
        said = await self.rows.ask(
            visit, "panel.login", body={"email": email, "password": password}
        )
        return _go_on(said.data, _next(visit))

    async def second_factor(self, visit: Visit) -> Result:
        """Ask for the code of a sign-in that waits for it."""
        browser = visit.browser
        if browser is None or browser.panel.state is not PanelState.MFA_PENDING:
            return Redirect(f"{HOME}/login")
        left = await self.actions.records.tries_left(browser)
        data = {"next": _next(visit), "ends_at": browser.panel.ends_at, "tries_left": left}
        is_recovery = visit.query("with") == RECOVERY or visit.form["with"] == RECOVERY
        return Shown(template="session/second_factor.html", data={**data, "recovery": is_recovery})

    async def submit_code(self, visit: Visit) -> Result:
        """Finish the sign-in by a code of the app, or by a recovery code."""
        await self.rows.ask(visit, "panel.mfa", body={"code": visit.form["code"]})
        return Redirect(_next(visit))

    async def sign_out(self, visit: Visit) -> Result:
        """End the session of this browser; safe to repeat."""
        await self.actions.logout(AnonymousCaller(visit.client, visit.browser), None)
        visit.cookies.append(self.form.taken)
        return Redirect(f"{HOME}/login")

    async def prefer(self, visit: Visit) -> Result:
        """Remember how the panel looks: of a person, before the sign-in of this browser."""
        chosen = _chosen(visit)
        browser = visit.browser
        if browser is not None and browser.panel.state is PanelState.FULL:
            await self.actions.services.users.prefer(browser.panel.user_id, chosen)
        else:
            for name, value in (
                (LANGUAGE_COOKIE, chosen.language),
                (THEME_COOKIE, chosen.theme),
            ):
                if value is not None:
                    visit.cookies.append(self._kept(name, value))
        return Redirect(own_path(visit.form["back"]))

    async def step_up(self, visit: Visit, code: str) -> None:
        """Submit a code of the second factor; browser and person are renewed."""
        if visit.person is None:
            return
        who = SignedInCaller(person=visit.person, client=visit.client, browser=visit.browser)
        view = await self.actions.step_up(who, CodeBody(code=code))
        visit.browser = view.browser
        visit.cookies.append(self.form.given(view.browser.cookie))
        if view.signed_in is not None:
            visit.person = view.signed_in.person

    async def begin(self, visit: Visit) -> None:
        """Give a browser a session, if it has none."""
        view = await self.actions.views.visit(visit.browser)
        visit.browser = view.browser
        if view.new_cookie:
            visit.cookies.append(self.form.given(view.browser.cookie))

    def _kept(self, name: str, value: str) -> str:
        """Write the header that keeps a choice for a year."""
        secure = "; Secure" if self.form.secure else ""
        return f"{name}={value}; Path=/panel{secure}; HttpOnly; SameSite=Lax; Max-Age={_YEAR_S}"


def _chosen(visit: Visit) -> Preferences:
    """Read what a form chooses; what is none of the words chooses nothing."""
    language, theme, keys = (visit.form[name] for name in ("language", "theme", "keys"))
    return Preferences(
        language=language if language in set(Language) else None,
        theme=theme if theme in set(Theme) else None,
        single_keys=_KEYS.get(keys),
    )


def _next(visit: Visit) -> str:
    """Return where to go after the sign-in: a page of ours, whatever was asked for."""
    return own_path(visit.query("next") or visit.form["next"])


def _go_on(session: Mapping[str, Any], to: str) -> Redirect:
    """
    Go where somebody wanted to; before that, to a code.

    Who may change something and has no app for codes sets one up first, or chooses to
    later: every act would ask for its code.
    """
    if session["mfa_required"]:
        return Redirect(f"{HOME}/login/code?{urlencode({'next': to})}")
    factor, held = session["mfa"], session["permissions"]
    acts = factor["required"] or not all(each.endswith(":read") for each in held)
    if acts and not factor["enrolled"]:
        return Redirect(f"{HOME}/factor?{urlencode({'next': to})}")
    return Redirect(to)


def session_pages(session: SessionPages) -> Sequence[Page]:
    """Return the pages of a browser's session; all of them stand before the sign-in."""
    return (
        Page(
            path="/login",
            name="sign_in",
            summary="Sign in.",
            shows=session.sign_in,
            is_open=True,
        ),
        Page(
            path="/login",
            name="sign_in_password",
            summary="Sign in by password.",
            shows=session.sign_in,
            does=session.submit_password,
            is_open=True,
        ),
        Page(
            path="/login/code",
            name="second_factor",
            summary="Ask for the code of a sign-in.",
            shows=session.second_factor,
            is_open=True,
        ),
        Page(
            path="/login/code",
            name="second_factor_code",
            summary="Finish a sign-in by a code.",
            shows=session.second_factor,
            does=session.submit_code,
            is_open=True,
        ),
        Page(
            path="/logout",
            name="sign_out",
            summary="Sign out; safe to repeat.",
            shows=session.sign_in,
            does=session.sign_out,
            is_open=True,
        ),
        Page(
            path="/preferences",
            name="preferences",
            summary="Remember language, theme and keys.",
            shows=session.sign_in,
            does=session.prefer,
            is_open=True,
        ),
    )
