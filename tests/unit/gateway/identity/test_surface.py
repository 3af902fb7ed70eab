"""The gates of identity."""

from __future__ import annotations

import pytest

from gateway.core import errors, user_errors
from gateway.identity.surface import CATALOGUE
from policies.authentication.bearer import BearerToken, RefusesBasic
from policies.traffic.csrf import ReadFromOurPage
from policies.traffic.quota import WithinAddressQuota, WithinPersonQuota
from tests.world.surfaces import surface_named, usual_surfaces

IDENTITY = surface_named("identity")


def test_anonymous_routes_have_an_address_quota_and_the_others_a_token():
    strangers, members, *_ = IDENTITY.gates

    asked = [ReadFromOurPage, WithinAddressQuota, RefusesBasic]
    assert [type(each) for each in strangers.policies] == asked
    assert [type(each) for each in members.policies] == [BearerToken, WithinPersonQuota]


def test_the_catalogue_has_user_errors_and_no_banking_errors():
    """Except codes that both surfaces use."""
    names = {each.name for each in CATALOGUE}

    people = [each for each in user_errors.CATALOGUE if not each.code.startswith("SVC.")]
    assert {each.name for each in people} <= names
    assert {errors.AUTH_UNAVAILABLE.name, errors.USER_CREDENTIALS_INVALID.name} <= names
    assert not names & {errors.BANK_REFUSED.name, errors.CREDENTIALS_MISSING.name}


SURFACES = {each.name: each for each in usual_surfaces()}
ROUTES = {
    (route.method, SURFACES[name].prefix + route.path): (gate, route)
    for name in ("identity", "keys")
    for gate in SURFACES[name].gates
    for route in gate.routes
}


@pytest.mark.parametrize(
    ("method", "path", "scheme", "status"),
    [
        ("POST", "/iam/v1/auth/login", "", 200),
        ("POST", "/iam/v1/auth/mfa", "", 200),
        ("POST", "/iam/v1/auth/login/passkey/options", "", 200),
        ("POST", "/iam/v1/auth/login/passkey", "", 200),
        ("POST", "/iam/v1/auth/refresh", "", 200),
        ("DELETE", "/iam/v1/auth/logout", "bearer", 204),
        ("GET", "/iam/v1/auth/session", "session", 200),
        ("POST", "/iam/v1/auth/password/forgot", "", 202),
        ("POST", "/iam/v1/auth/password/reset", "", 204),
        ("POST", "/iam/v1/auth/password/change", "bearer", 204),
        ("POST", "/iam/v1/auth/totp", "bearer", 200),
        ("POST", "/iam/v1/auth/totp/confirm", "bearer", 200),
        ("POST", "/iam/v1/auth/totp/remove", "bearer", 204),
        ("POST", "/iam/v1/auth/recovery-codes", "bearer", 200),
        ("POST", "/iam/v1/auth/step-up", "bearer", 200),
        ("POST", "/iam/v1/auth/step-up/passkey", "bearer", 200),
        ("GET", "/iam/v1/auth/passkeys", "bearer", 200),
        ("POST", "/iam/v1/auth/passkeys", "bearer", 200),
        ("POST", "/iam/v1/auth/passkeys/options", "bearer", 200),
        ("POST", "/iam/v1/auth/passkeys/registration-options", "bearer", 200),
        ("POST", "/iam/v1/auth/passkeys/{passkey_id}/remove", "bearer", 204),
        ("GET", "/iam/v1/auth/sessions", "bearer", 200),
        ("DELETE", "/iam/v1/auth/sessions/{session_id}", "bearer", 204),
        ("POST", "/iam/v1/auth/invitations/accept", "", 204),
        ("GET", "/iam/v1/info", "", 200),
        ("GET", "/iam/v1/health", "", 200),
        ("GET", "/iam/v1/error-codes", "", 200),
        ("GET", "/.well-known/jwks.json", "", 200),
    ],
)
def test_each_route_has_its_gate_and_status(method: str, path: str, scheme: str, status: int):
    gate, route = ROUTES[method, path]

    assert (gate.scheme, route.status) == (scheme, status)


@pytest.mark.parametrize(
    ("path", "quota"),
    [
        ("login", "sign_in"),
        ("login/passkey", "sign_in"),
        ("mfa", "second_factor"),
        ("password/forgot", "recovery"),
        ("password/reset", "recovery"),
        ("invitations/accept", "recovery"),
    ],
)
def test_guessable_routes_have_their_own_quota(path: str, quota: str):
    _, route = ROUTES["POST", f"/iam/v1/auth/{path}"]

    assert route.limits.quota == quota
