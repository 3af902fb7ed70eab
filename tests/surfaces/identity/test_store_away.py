"""Without its store identity answers 503, never wrongly."""

from __future__ import annotations

import pytest

from tests.surfaces.identity.store_away import AWAY, losing
from tests.world.gateway.identity_api import ApiClient
from tests.world.identity import EMAIL, PASSWORD


async def test_every_caller_is_refused(api_client: ApiClient, maria, url: str):
    came = await api_client.sign_in()
    rows = [
        ("POST", "/iam/v1/auth/login", {"email": EMAIL, "password": PASSWORD}),
        ("POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]}),
        ("GET", "/iam/v1/auth/sessions", None),
    ]

    async with losing(url, "users", "sessions", "refresh_tokens"):
        answers = [
            await api_client.ask(method, path, body, token=came["access_token"])
            for method, path, body in rows
        ]

    assert [each.verdict for each in answers] == [AWAY] * 3
    assert all(each.headers["Retry-After"] == "2" for each in answers)
    assert (
        await api_client.ask("GET", "/iam/v1/auth/sessions", token=came["access_token"])
    ).status == (200)


async def test_a_failed_sign_out_is_not_confirmed(api_client: ApiClient, maria, url: str):
    """A 200 would leave the token valid."""
    token = (await api_client.sign_in())["access_token"]

    async with losing(url, "audit"):
        answer = await api_client.ask("DELETE", "/iam/v1/auth/logout", token=token)

    assert answer.verdict == AWAY
    assert (await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)).status == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic YTpi"}])
async def test_routes_without_the_store_still_answer(
    api_client: ApiClient, url: str, headers: dict[str, str]
):
    async with losing(url, "users", "sessions"):
        answer = await api_client.ask("DELETE", "/iam/v1/auth/logout", headers=headers)

    assert answer.status == 401
