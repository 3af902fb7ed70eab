"""What pages before the sign-in have in common: a browser, a quota, and the page that follows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from urllib.parse import urlencode

from gateway.core.calls import Call
from gateway.core.rights import Role, changes
from gateway.http.panel.pages.page import Redirect
from gateway.http.panel.pages.visit import HOME, Visit, own_path
from gateway.identity.panel_sessions import PanelView
from gateway.identity.panel_surface import Panel


async def begin_browser(room: Panel, visit: Visit) -> None:
    """Give a browser a session, if it has none."""
    view = await room.sessions.visit(visit.browser, visit.client)
    visit.browser = view.browser
    if view.new_cookie:
        visit.cookies.append(room.responses.form.given(view.browser.cookie))


@asynccontextmanager
async def within_quota(room: Panel, visit: Visit, quota: str) -> AsyncIterator[None]:
    """Draw from the quota of the same act on the API; a success may return the token."""
    call = Call(asked=visit.call.asked, needs=None, quota=quota, known=visit.call.known)
    waiting = room.policies.users.address_quota(call)
    if waiting is not None:
        await waiting
    yield
    if call.on_success is not None:
        call.on_success()


def wanted_page(visit: Visit) -> str:
    """Return the address after the sign-in: always a page of ours."""
    return own_path(visit.query("next") or visit.form["next"])


def go_on(view: PanelView, to: str, factor_roles: Collection[Role]) -> Redirect:
    """
    Go to the requested page; before that, to the code's page.

    Who may change something and has no app for codes sets one up first, or chooses to
    later: every act would ask for its code.
    """
    if view.is_pending:
        return Redirect(f"{HOME}/login/code?{urlencode({'next': to})}")
    if view.signed_in is not None and not view.signed_in.person.has_factor:
        person = view.signed_in.person
        if person.lacks_factor(factor_roles) or any(map(changes, person.rights)):
            return Redirect(f"{HOME}/factor?{urlencode({'next': to})}")
    return Redirect(to)
