"""Without its store the panel answers 503 on every route, never wrongly."""

from __future__ import annotations

import pytest

from tests.surfaces.identity.store_away import AWAY, losing
from tests.world.gateway.identity_api import ApiClient
from tests.world.identity import EMAIL, PASSWORD

EVERYTHING = ("users", "sessions", "panel_sessions")
LOGIN = {"email": EMAIL, "password": PASSWORD}


@pytest.mark.parametrize(
    ("request_", "body"),
    [
        ("GET /iam/v1/auth/session", None),
        ("GET /panel/auth/sessions", None),
        ("POST /panel/auth/login", LOGIN),
        ("POST /panel/auth/mfa", {"code": "123456"}),
        ("POST /panel/auth/logout", None),
        ("POST /panel/auth/step-up", {"code": "123456"}),
        ("POST /panel/auth/totp", {"password": PASSWORD}),
        ("DELETE /panel/auth/sessions", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_every_route_reports_an_unavailable_store(
    api_client: ApiClient, maria, url: str, request_: str, body: object
):
    method, _, path = request_.partition(" ")
    browser = await api_client.signed_in_browser()

    async with losing(url, *EVERYTHING):
        if method == "GET":
            answer = await browser.get(path)
        else:
            answer = await browser.post(path, body, method=method)

    assert answer.verdict == AWAY
    assert answer.headers["Retry-After"] == "2"


@pytest.mark.parametrize("tables", [("users",), ("sessions",), ("panel_sessions",), ("audit",)])
async def test_a_failed_sign_out_is_not_confirmed(
    api_client: ApiClient, maria, url: str, tables: tuple[str, ...]
):
    """The session is still valid afterwards."""
    browser = await api_client.signed_in_browser()

    async with losing(url, *tables):
        answer = await browser.post("/panel/auth/logout")

    assert answer.verdict == AWAY
    assert (await browser.load_session())["authenticated"] is True


async def test_unreadable_signing_keys_are_a_503(api_client: ApiClient, url: str):
    """A verifier that caches an empty set would refuse every token."""
    api_client.identity_world.keyring.forget()
    address = f"http://127.0.0.1:{api_client.port}/.well-known/jwks.json"

    async with losing(url, "signing_keys"), api_client.session.get(address) as said:
        status, code = said.status, (await said.json())["code"]

    assert (status, code) == AWAY
    assert said.headers["Retry-After"] == "2"
