"""The order of checks, and what identity answers before the caller is known."""

from __future__ import annotations

import pytest

from gateway.core import user_errors
from gateway.core.catalogue import ErrorCode
from gateway.core.limits import CallRate
from gateway.http.openapi.operations import codes_of
from gateway.identity.surface import CATALOGUE
from tests.world.gateway.identity_api import ApiClient, api_client_on
from tests.world.identity import EMAIL, PASSWORD

LOGIN = "/iam/v1/auth/login"
BIG = b'{"email": "' + b"a" * 17_000 + b'"}'


async def test_unknown_fields_are_ignored_and_counted(api_client: ApiClient, maria):
    body = {"email": EMAIL, "password": PASSWORD, "role": "admin"}

    answer = await api_client.ask("POST", LOGIN, body)

    assert answer.status == 200
    assert ("unknown_field", "identity.login") in api_client.witness.counted


@pytest.mark.parametrize(
    ("method", "path", "verdict"),
    [
        ("GET", "/iam/v1/nothing", (404, "SVC.GTW.001")),
        ("GET", "/iam/v1/auth/login/", (404, "SVC.GTW.001")),
        ("PUT", LOGIN, (405, "SVC.GTW.002")),
        ("OPTIONS", LOGIN, (405, "SVC.GTW.002")),
        ("GET", LOGIN, (405, "SVC.GTW.002")),
        ("POST", "/iam/v1/auth/logout", (405, "SVC.GTW.002")),
    ],
    ids=str,
)
async def test_paths_and_methods_are_checked_first(
    api_client: ApiClient, method: str, path: str, verdict: tuple[int, str]
):
    """Before any token; there is no CORS."""
    answer = await api_client.ask(method, path, headers={"Authorization": "Basic YTpi"})

    assert answer.verdict == verdict
    assert not [name for name in answer.headers if name.startswith("Access-Control")]


async def test_a_large_body_is_refused_before_the_token(api_client: ApiClient):
    headers = {"Content-Type": "application/json"}

    for path in (LOGIN, "/iam/v1/auth/step-up"):
        answer = await api_client.ask("POST", path, headers=headers, data=BIG)
        assert answer.verdict == (413, "SVC.GTW.003")


async def test_the_token_is_checked_before_the_body(api_client: ApiClient):
    answer = await api_client.ask(
        "POST", "/iam/v1/auth/step-up", headers={"Authorization": "Basic a"}
    )

    assert answer.verdict == (401, "INVALID_CREDENTIALS")


async def test_an_address_above_its_quota_is_refused(store, clock):
    """Before the body is read; other routes are served."""
    async with api_client_on(store, clock, sign_in=CallRate(rate=0.001, burst=2)) as api_client:
        verdicts = [(await api_client.ask("POST", LOGIN, {})).verdict for _ in range(3)]
        refresh = await api_client.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": "a"})

    assert verdicts == [(400, "VALIDATION_FAILED")] * 2 + [(429, "SVC.GTW.005")]
    assert refresh.verdict == (401, "REFRESH_INVALID")


async def test_public_information_needs_no_session(api_client: ApiClient):
    info = await api_client.ask("GET", "/iam/v1/info")
    health = await api_client.ask("GET", "/iam/v1/health")
    codes = await api_client.ask("GET", "/iam/v1/error-codes")

    assert info.document == {"name": "pixgate", "version": "1.0.0", "environment": "sandbox"}
    assert health.document == {"status": "ok"}
    listed = {each["code"] for each in codes.document["data"]}
    assert {each.code for each in user_errors.CATALOGUE if "." not in each.code} <= listed
    assert {"SVC.SYS.001", "SVC.SYS.002", "SVC.GTW.001"} <= listed
    assert not {each for each in listed if each.startswith("SVC.PIX")}


async def test_the_public_keys_are_cacheable_for_five_minutes(api_client: ApiClient):
    answer = await api_client.ask("GET", "/.well-known/jwks.json")

    (key,) = answer.document["keys"]
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    assert set(key) == {"kty", "crv", "x", "kid", "use", "alg"}


def _told(api_client: ApiClient) -> set[ErrorCode]:
    """Return every code that some route of people declares."""
    return {
        error
        for surface in api_client.surfaces
        for gate in surface.gates
        for route in gate.routes
        for error in codes_of(gate, route)
    }


async def test_every_identity_code_belongs_to_a_route(api_client: ApiClient):
    """Except for the two codes of the route table, which apply before any route."""
    elsewhere = {"route_unknown", "method_not_allowed"}

    silent = {error.name for error in set(CATALOGUE) - _told(api_client)}

    assert silent == elsewhere


async def test_identity_sets_no_cookie(api_client: ApiClient, maria):
    for answer in (await api_client.login(), await api_client.ask("GET", "/iam/v1/info")):
        assert "Set-Cookie" not in answer.headers
