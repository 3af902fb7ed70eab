"""From the password to the end, without a browser, over both databases."""

from __future__ import annotations

import pytest

from tests.world.gateway.identity_api import ApiClient, at_once
from tests.world.identity import EMAIL

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])


@BOTH
async def test_login_factor_session_refresh_race_logout(api_client: ApiClient, maria):
    """Ten refreshes at once: one pair, which works; after logout nothing does."""
    await api_client.identity_world.enrol()

    challenge = (await api_client.login()).document
    body = {"mfa_token": challenge["mfa_token"], "code": api_client.identity_world.code()}
    came = (await api_client.ask("POST", "/iam/v1/auth/mfa", body)).document
    again = {"refresh_token": came["refresh_token"]}
    race = await at_once(
        *(api_client.ask("POST", "/iam/v1/auth/refresh", again) for _ in range(10))
    )
    pair = next(each.document for each in race if each.status == 200)
    listed = await api_client.ask("GET", "/iam/v1/auth/sessions", token=pair["access_token"])
    left = await api_client.ask("DELETE", "/iam/v1/auth/logout", token=pair["access_token"])

    assert set(challenge) == {"mfa_required", "mfa_token"}
    assert set(came["user"]) == {"id", "name", "email", "roles"}
    assert came["user"]["email"] == EMAIL
    assert came["expires_at"] == int(api_client.clock.now().timestamp()) + 600
    assert came["refresh_expires_at"] == int(api_client.clock.now().timestamp()) + 8 * 3600
    assert sorted(each.verdict for each in race) == [(200, ""), *[(401, "REFRESH_INVALID")] * 9]
    assert listed.document["meta"] == {"total": 1}
    assert left.status == 204
    for token in (came["access_token"], pair["access_token"]):
        dead = await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)
        assert dead.verdict == (401, "TOKEN_INVALID")
    last = {"refresh_token": pair["refresh_token"]}
    assert (await api_client.ask("POST", "/iam/v1/auth/refresh", last)).verdict == (
        401,
        "REFRESH_INVALID",
    )


@BOTH
async def test_a_late_replay_ends_the_family(api_client: ApiClient, maria):
    """The pair of whoever was quicker dies with it."""
    came = await api_client.sign_in()
    old = {"refresh_token": came["refresh_token"]}
    pair = (await api_client.ask("POST", "/iam/v1/auth/refresh", old)).document

    api_client.clock.passes(11)
    replay = await api_client.ask("POST", "/iam/v1/auth/refresh", old)

    assert replay.verdict == (401, "REFRESH_INVALID")
    dead = await api_client.ask("GET", "/iam/v1/auth/sessions", token=pair["access_token"])
    assert dead.verdict == (401, "TOKEN_INVALID")
    assert ("authn_token_reuse", maria.id) in api_client.identity_world.security_events


async def test_without_a_factor_a_login_is_a_session(api_client: ApiClient, maria):
    said = (await api_client.login(" MARIA@Example.com ")).document

    assert set(said) == {
        *("access_token", "refresh_token", "token_type", "expires_at", "refresh_expires_at"),
        *("user", "mfa_required"),
    }
    assert said["token_type"] == "Bearer"
    assert said["user"]["roles"] == ["admin"]


async def test_refreshing_does_not_move_the_end(api_client: ApiClient, maria):
    came = await api_client.sign_in()
    api_client.clock.passes(3600)

    pair = await api_client.ask(
        "POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]}
    )

    assert pair.document["refresh_expires_at"] == came["refresh_expires_at"]
    assert set(pair.document) == set(came) - {"user", "mfa_required"}


async def test_a_recovery_code_serves_once(api_client: ApiClient, maria):
    code = (await api_client.identity_world.enrol())[3]

    async def gives() -> tuple[int, str]:
        token = (await api_client.login()).document["mfa_token"]
        body = {"mfa_token": token, "code": code}
        return (await api_client.ask("POST", "/iam/v1/auth/mfa", body)).verdict

    assert await gives() == (200, "")
    assert await gives() == (401, "MFA_INVALID")


async def test_what_happened_was_counted(api_client: ApiClient, maria):
    await api_client.identity_world.enrol()
    api_client.counted.clear()
    await api_client.login(password="wrong wrong wrong")
    came = await api_client.sign_in()
    await api_client.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]})
    await api_client.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]})

    assert [each for each in api_client.counted if not each[0].startswith("quota")] == [
        ("login", "bad_credentials"),
        ("login", "mfa_required"),
        ("mfa", "totp.ok"),
        ("token_refresh", "ok"),
        ("token_refresh", "reuse_race"),
    ]
