"""The routes that identity and the panel share."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from gateway.http.route import Route, code_of
from tests.world.surfaces import usual_surfaces

SURFACES = {each.name: each for each in usual_surfaces()}
ROUTES = [
    route
    for name in ("identity", "panel", "keys")
    for gate in SURFACES[name].gates
    for route in gate.routes
]
TOUCHING = [route for route in ROUTES if route.path not in {"/info", "/health", "/error-codes"}]


def routes_of(surface: str) -> set[tuple[str, str]]:
    return {(route.method, route.path) for gate in SURFACES[surface].gates for route in gate.routes}


def test_token_and_cookie_surfaces_have_the_same_account_routes():
    """A browser may do what a token may."""
    different = {
        ("DELETE", "/auth/logout"),
        ("POST", "/auth/refresh"),
        ("GET", "/auth/session"),
        *(("GET", path) for path in ("/info", "/health", "/error-codes")),
    }

    assert routes_of("identity") - different == routes_of("panel") - {("POST", "/auth/logout")}


@pytest.mark.parametrize("route", TOUCHING, ids=lambda route: route.name)
def test_without_the_store_every_route_is_503(route: Route[object]):
    assert code_of(StoreUnavailable(), route.fails) is errors.AUTH_UNAVAILABLE


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_body_has_at_most_16_kib(route: Route[object]):
    assert route.limits.body_bytes in {0, 16 * 1024}


def test_every_route_name_is_unique():
    assert len({route.name for route in ROUTES}) == len(ROUTES)
