"""Gates behind a cookie."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.companies.model import Company
from gateway.core.account import Environment
from gateway.core.browsers import (
    Browser,
    ClientInfo,
    Cookie,
    PanelSession,
    PanelState,
)
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.http.gates import AnonymousCaller
from gateway.http.table import Table, check_surfaces
from gateway.identity.cookies import DeviceCookies
from gateway.identity.panel_sessions import PanelView, SignedInView
from gateway.identity.panel_surface import PanelResponses
from policies.authentication.session import HARDENED, BrowserCookie, SessionCookie
from policies.traffic.csrf import (
    CsrfToken,
    FormFromOurPage,
    OpensOurPage,
    ReadFromOurPage,
    WriteFromOurPage,
)
from tests.world.people import COMPANY, somebody
from tests.world.standing import NOON
from tests.world.surfaces import usual_surfaces

SURFACES = usual_surfaces()
PLACES = [each for each in Table(SURFACES).places() if each.gate.scheme == "session"]
BEFORE = {"login", "mfa", "logout", "session", "password_forgot", "password_reset"}
BEFORE |= {"invitation_accept", "login_passkey", "login_passkey_options"}
ORIGINS = {
    ("panel_pages", "GET"): OpensOurPage,
    ("panel_pages", "POST"): FormFromOurPage,
}
"""Of pages; for scripts it is by method alone."""


def test_every_route_behind_a_cookie_is_guarded():
    assert check_surfaces(SURFACES) == []
    assert {each.surface.name for each in PLACES} >= {"panel", "identity"}


def test_the_origin_is_checked_before_the_cookie():
    """A foreign request does not extend a session."""
    for place in PLACES:
        kinds = [type(each) for each in place.gate.policies]
        for_scripts = ReadFromOurPage if place.route.method == "GET" else WriteFromOurPage
        origin = ORIGINS.get((place.surface.name, place.route.method), for_scripts)
        cookie = next(each for each in kinds if each in {BrowserCookie, SessionCookie})

        assert kinds.index(origin) < kinds.index(cookie), place.route.name
        if origin is WriteFromOurPage:
            assert kinds.index(cookie) < kinds.index(CsrfToken), place.route.name


def test_every_route_after_the_sign_in_requires_a_session():
    for place in PLACES:
        asked = any(isinstance(each, SessionCookie) for each in place.gate.policies)
        is_page_before = place.surface.name == "panel_pages" and "before" in place.gate.opens

        is_before = place.route.name.rpartition(".")[2] in BEFORE or is_page_before
        assert asked is not is_before, place.route.name


def test_every_read_except_the_session_requires_the_script_header():
    marked = {
        place.route.name: policy.marked
        for place in PLACES
        for policy in place.gate.policies
        if isinstance(policy, ReadFromOurPage)
    }

    assert marked.pop("identity.session") is False
    assert set(marked.values()) == {True}


def test_only_signing_out_is_allowed_without_a_session():
    lenient = {
        place.route.name
        for place in PLACES
        for policy in place.gate.policies
        if policy == CsrfToken(without_session=True)
    }

    assert lenient == {"panel.logout"}


DEVICES = DeviceCookies([b"d" * 32], lambda: NOON, lambda size: b"r" * size)
SHOWS = PanelResponses(HARDENED, Environment.SANDBOX, DEVICES, frozenset())
GUEST = AnonymousCaller(ClientInfo())


def browser(state: PanelState) -> Browser:
    panel = PanelSession(
        id_hash="h",
        state=state,
        csrf="c",
        created_at=NOON,
        seen_at=NOON,
        ends_at=NOON + timedelta(hours=8),
    )
    return Browser(Cookie(id_hash="h", secret=b"", value="v"), panel)


def signed_in(maria: SignedInUser) -> SignedInView:
    return SignedInView(
        person=maria, company=Company(COMPANY, "Padaria", NOON, ""), codes_left=0, idle_ends_at=NOON
    )


@pytest.mark.parametrize("has_factor", [True, False])
def test_listed_permissions_exclude_writes_until_a_required_factor_is_enrolled(*, has_factor: bool):
    """Without one only reading is allowed; the page learns that a factor is required."""
    shows = replace(SHOWS, factor_roles=frozenset({Role.OPERATOR}))
    joao = somebody(Role.OPERATOR, has_factor=has_factor)

    shown = shows.session(
        PanelView(browser(PanelState.FULL), signed_in(joao), new_cookie=False), GUEST
    ).content

    writes = [each for each in shown["permissions"] if not each.endswith(":read")]
    assert shown["mfa"]["required"] is True
    assert bool(writes) is has_factor
    assert "account:read" in shown["permissions"]


def test_signing_out_deletes_the_cookie_and_clears_site_data():
    headers = SHOWS.left(None, GUEST).headers

    assert headers["Set-Cookie"].endswith("; Max-Age=0")
    assert headers["Clear-Site-Data"] == '"cache", "storage"'
