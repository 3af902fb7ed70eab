"""What must hold of every route."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Settings
from gateway.core.calls import Policy
from gateway.http.route import Route
from gateway.http.table import check_surfaces
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage
from tests.world.gateway.listener_client import TAKES, TAKES_BODY, route, surface


def test_our_routes_pass_every_check():
    assert check_surfaces(described_surfaces(Settings())) == []


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (route(needs=None), "no permission"),
        (route(fails={}), "no declared failure"),
        (route(body_bytes=8, takes=TAKES), "a body without a limit, or a limit without a body"),
        (route(takes=TAKES_BODY), "a body without a limit, or a limit without a body"),
        (route(body_bytes=65), "a body larger than its surface takes"),
    ],
    ids=["open", "never fails", "limit alone", "body alone", "too large"],
)
def test_an_invalid_route_is_named(bad: Route[object], problem: str):
    assert check_surfaces([surface(bad)]) == [f"tests.echo: {problem}"]


def test_a_permission_that_no_policy_checks_is_refused():
    found = check_surfaces([surface(route(), policies=[])])

    assert found == ["tests.echo: a permission that no policy asks for"]


GUARDS = {
    "nothing": [],
    "the token alone": [CsrfToken()],
    "the origin alone": [WriteFromOurPage(str)],
    "as a read": [ReadFromOurPage(origin=str, marked=True), CsrfToken()],
}


@pytest.mark.parametrize("guards", GUARDS.values(), ids=GUARDS)
def test_a_write_with_a_cookie_must_be_guarded(guards: list[Policy]):
    """Otherwise the service does not start."""
    unguarded = surface(route(method="POST"))
    gate = replace(unguarded.gates[0], scheme="session", policies=guards)

    found = check_surfaces([replace(unguarded, gates=[gate])])

    assert "tests.echo: a cookie without its guards against forged requests" in found


def test_a_read_with_a_cookie_must_be_guarded():
    read = surface(route())
    bare = replace(read.gates[0], scheme="session", policies=[CsrfToken()])
    guarded = replace(bare, policies=[ReadFromOurPage(origin=str, marked=True)])

    found = check_surfaces([replace(read, gates=[bare])])

    assert found == ["tests.echo: a cookie without its guards against forged requests"]
    assert check_surfaces([replace(read, gates=[guarded])]) == []


def test_a_route_may_be_public_when_its_gate_gives_a_reason():
    open_to_all = surface(route(needs=None))
    gate = replace(open_to_all.gates[0], opens="everybody may know")

    assert check_surfaces([replace(open_to_all, gates=[gate])]) == []
