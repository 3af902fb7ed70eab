"""Pages before the sign-in: the sign-in itself, links of mails, and how the panel looks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from gateway.core.browsers import PanelState
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.sessions import SignedInUser
from gateway.core.user import Preferences
from gateway.core.user_errors import PASSWORD_WRONG
from gateway.http.panel.pages.kit import PageContext, Pages
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
from gateway.identity.documents import CodeBody, ForgotBody, LinkBody, LoginBody, typed
from gateway.identity.panel_surface import Panel
from gateway.identity.sign_in_visits import begin_browser, go_on, wanted_page, within_quota
from gateway.identity.surface import FAILS
from gateway.identity.webauthn import Assertion, assertion

_YEAR_S: Final = 365 * 24 * 3600
RECOVERY: Final = "recovery"
"""The way to sign in without the authenticator app."""

_KEYS: Final[Mapping[str, bool]] = {"on": True, "off": False}

DONE: Final = frozenset({"reset", "invitation", "out", "over", "kept"})
"""What has just been done to somebody who comes to sign in."""


def pages(room: Panel, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("", context, is_open=True, fails=FAILS, priority=Priority.STRANGERS)
    _sign_in(panel, room)
    _recovery(panel, room)
    return panel.pages


def _sign_in(panel: Pages, room: Panel) -> None:
    sessions, services, responses = room.sessions, room.identity, room.responses

    @panel.view("/login", "sign_in", None)
    async def sign_in(visit: Visit) -> Result:
        """Sign in; a browser without a session gets one, for its token."""
        to = wanted_page(visit)
        if visit.is_foreign:
            return Shown(template="session/continue.html", data={"next": to})
        await begin_browser(room, visit)
        who = await _signed_in(room, visit)
        if who is not None and who.is_known_at(visit.client.address):
            return Redirect(to)
        if who is not None and who.has_factor:
            return Redirect(f"{HOME}/login/network?{urlencode({'next': to})}")
        done = visit.query("done")
        said = done if done in DONE else ""
        passkeys = bool(services.context.relying_party.id)
        data = {"next": to, "done": said, "passkeys": passkeys}
        return Shown(template="session/sign_in.html", data=data)

    @panel.form("/login", "sign_in_password", None, shows=sign_in)
    async def submit_password(visit: Visit) -> Result:
        """Sign in by password; a second factor is asked for on the next page."""
        email, password = visit.form["email"], visit.form.exactly("password")
        if not email or not password:
            raise ServiceError(PASSWORD_WRONG, "password")
        async with within_quota(room, visit, "sign_in"):
            body = typed(LoginBody, email=email, password=password)
            view = await sessions.login(visit.browser, body.email, body.password, visit.client)
        visit.cookies.extend(responses.cookies(view, visit.client))
        return go_on(view, wanted_page(visit), responses.factor_roles)

    @panel.form("/login/passkey", "sign_in_passkey", None, shows=sign_in)
    async def use_passkey(visit: Visit) -> Result:
        """Sign in by a passkey alone; a script of the page has asked the browser for it."""
        async with within_quota(room, visit, "sign_in"):
            answer = assertion(visit.form["passkey"])
            view = await sessions.login_by_passkey(visit.browser, answer, visit.client)
        visit.cookies.extend(responses.cookies(view, visit.client))
        return Redirect(wanted_page(visit))

    @panel.view("/login/code", "second_factor", None)
    async def second_factor(visit: Visit) -> Result:
        """Ask for the code of a sign-in that waits for it."""
        browser = visit.browser
        if browser is None or browser.panel.state is not PanelState.MFA_PENDING:
            return Redirect(f"{HOME}/login")
        data = {
            "next": wanted_page(visit),
            "ends_at": browser.panel.ends_at,
            "tries_left": await sessions.tries_left(browser),
            "recovery": RECOVERY in {visit.query("with"), visit.form["with"]},
            "passkeys": bool(services.context.relying_party.id),
        }
        return Shown(template="session/second_factor.html", data=data)

    @panel.form("/login/code", "second_factor_code", None, shows=second_factor)
    async def submit_code(visit: Visit) -> Result:
        """Finish the sign-in by a code of the app, or by a recovery code."""
        async with within_quota(room, visit, "second_factor"):
            body = typed(CodeBody, code=visit.form["code"])
            view = await sessions.submit_code(visit.browser, body.code, visit.client)
        visit.cookies.extend(responses.cookies(view, visit.client))
        return Redirect(wanted_page(visit))

    @panel.view("/login/network", "network", None)
    async def network(visit: Visit) -> Result:
        """Ask for a code at a network that is new to the session."""
        who = await _signed_in(room, visit)
        if who is None or not who.has_factor:
            return Redirect(f"{HOME}/login")
        if who.is_known_at(visit.client.address):
            return Redirect(wanted_page(visit))
        data = {
            "next": wanted_page(visit),
            "address": visit.client.address,
            "has_passkey": who.has_passkey,
            "has_app": who.has_app,
        }
        return Shown(template="session/network.html", data=data)

    @panel.form("/login/network", "network_code", None, shows=network)
    async def confirm_network(visit: Visit) -> Result:
        """Let the session be used at this network, by a passkey, or a code of any kind."""
        async with within_quota(room, visit, "second_factor"):
            passkey, code = visit.form["passkey"], visit.form["code"]
            given: str | Assertion
            given = assertion(passkey) if passkey else typed(CodeBody, code=code).code
            view = await sessions.confirm_network(visit.browser, given, visit.client)
        visit.cookies.append(responses.form.given(view.browser.cookie))
        return Redirect(wanted_page(visit))

    @panel.form("/logout", "sign_out", None, shows=sign_in, priority=Priority.ALWAYS)
    async def sign_out(visit: Visit) -> Result:
        """End the session of this browser; safe to repeat."""
        await sessions.logout(visit.browser)
        visit.cookies += [responses.form.taken, room.kept.taken]
        return Redirect(f"{HOME}/login?done=out")

    @panel.form("/preferences", "preferences", None, shows=sign_in)
    async def prefer(visit: Visit) -> Result:
        """Remember how the panel looks: of a person, before the sign-in of this browser."""
        chosen, browser = _chosen(visit), visit.browser
        if browser is not None and browser.panel.state is PanelState.FULL:
            await services.users.prefer(browser.panel.user_id, chosen)
        else:
            kept = ((LANGUAGE_COOKIE, chosen.language), (THEME_COOKIE, chosen.theme))
            secure = "; Secure" if responses.form.secure else ""
            lasts = f"Path=/panel{secure}; HttpOnly; SameSite=Lax; Max-Age={_YEAR_S}"
            visit.cookies += [f"{name}={value}; {lasts}" for name, value in kept if value]
        return Redirect(own_path(visit.form["back"]))


def _recovery(panel: Pages, room: Panel) -> None:
    passwords = room.identity.passwords

    @panel.view("/forgotten", "forgotten", None)
    async def forgotten(visit: Visit) -> Result:
        """Request a link for a new password; the page is the same with and without a user."""
        await begin_browser(room, visit)
        return Shown(template="session/forgotten.html", data={"sent": visit.query("sent") == "1"})

    @panel.form("/forgotten", "forgotten_send", None, shows=forgotten)
    async def send(visit: Visit) -> Result:
        """Have a link sent that sets a new password."""
        async with within_quota(room, visit, "recovery"):
            body = typed(ForgotBody, email=visit.form["email"])
            await passwords.forgot(body.email, visit.client)
        return Redirect(f"{HOME}/forgotten?sent=1")

    def link(done: str, does: Callable[..., Awaitable[str]]) -> None:
        """Declare the page of a link, which sets a password once."""

        @panel.view(f"/{done}", done, None)
        async def ask(visit: Visit) -> Result:
            """Ask for the password to be; who comes from their mail follows a link of ours."""
            if visit.is_foreign:
                to = own_path(visit.address)
                return Shown(template="session/continue.html", data={"next": to})
            await begin_browser(room, visit)
            token = visit.query("token") or visit.form["token"]
            data = {"token": token, "for": done}
            return Shown(template="session/new_password.html", data=data, is_secret=True)

        @panel.form(f"/{done}", f"{done}_set", None, shows=ask)
        async def set_password(visit: Visit) -> Result:
            """Set the password by a link of a mail, and lead to the sign-in."""
            form = visit.form
            async with within_quota(room, visit, "recovery"):
                body = typed(LinkBody, token=form["token"], password=form.exactly("new_password"))
                user_id = await does(body.token, body.password, visit.client)
            visit.cookies.append(room.responses.device(user_id, visit.client))
            return Redirect(f"{HOME}/login?done={done}")

    link("reset", passwords.reset)
    link("invitation", passwords.accept_invitation)


def stepping_up(room: Panel) -> Callable[[Visit], Awaitable[None]]:
    """Return the action that gives a form's second factor, and renews browser and person."""

    async def step_up(visit: Visit) -> None:
        who, passkey, code = visit.person, visit.form["passkey"], visit.form["code"]
        if who is None or not (passkey or code):
            return
        if passkey:
            answer = assertion(passkey)
            view = await room.sessions.step_up_by_passkey(visit.browser, who, answer, visit.client)
        else:
            view = await room.sessions.step_up(visit.browser, who, code, visit.client)
        visit.browser = view.browser
        visit.cookies.append(room.responses.form.given(view.browser.cookie))
        if view.signed_in is not None:
            visit.person = view.signed_in.person

    return step_up


async def _signed_in(room: Panel, visit: Visit) -> SignedInUser | None:
    """Return the user of a browser, at any network; None without a session."""
    return None if visit.browser is None else await room.sessions.signed_in(visit.browser)


def _chosen(visit: Visit) -> Preferences:
    """Read a form's choice; None for an unknown word."""
    language, theme, keys = (visit.form[name] for name in ("language", "theme", "keys"))
    return Preferences(
        language=language if language in set(Language) else None,
        theme=theme if theme in set(Theme) else None,
        single_keys=_KEYS.get(keys),
    )
