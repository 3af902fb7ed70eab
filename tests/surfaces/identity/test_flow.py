"""From the password to the end, without a browser, over both databases."""

from __future__ import annotations

import pytest

from tests.surfaces.house import House, at_once
from tests.unit.door import EMAIL

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])


@BOTH
async def test_login_factor_session_refresh_race_logout(house: House, maria):
    """Ten refreshes at once: one pair, which works; after logout nothing does."""
    await house.door.enrols()

    challenge = (await house.login()).document
    body = {"mfa_token": challenge["mfa_token"], "code": house.door.code()}
    came = (await house.ask("POST", "/iam/v1/auth/mfa", body)).document
    again = {"refresh_token": came["refresh_token"]}
    race = await at_once(*(house.ask("POST", "/iam/v1/auth/refresh", again) for _ in range(10)))
    pair = next(each.document for each in race if each.status == 200)
    listed = await house.ask("GET", "/iam/v1/auth/sessions", token=pair["access_token"])
    left = await house.ask("DELETE", "/iam/v1/auth/logout", token=pair["access_token"])

    assert set(challenge) == {"mfa_required", "mfa_token"}
    assert set(came["user"]) == {"id", "name", "email", "roles"}
    assert came["user"]["email"] == EMAIL
    assert came["expires_at"] == int(house.clock.now().timestamp()) + 600
    assert came["refresh_expires_at"] == int(house.clock.now().timestamp()) + 8 * 3600
    assert sorted(each.verdict for each in race) == [(200, ""), *[(401, "REFRESH_INVALID")] * 9]
    assert listed.document["meta"] == {"total": 1}
    assert left.status == 204
    for token in (came["access_token"], pair["access_token"]):
        dead = await house.ask("GET", "/iam/v1/auth/sessions", token=token)
        assert dead.verdict == (401, "TOKEN_INVALID")
    last = {"refresh_token": pair["refresh_token"]}
    assert (await house.ask("POST", "/iam/v1/auth/refresh", last)).verdict == (
        401,
        "REFRESH_INVALID",
    )


@BOTH
async def test_a_late_replay_ends_the_family(house: House, maria):
    """The pair of whoever was quicker dies with it."""
    came = await house.signs_in()
    old = {"refresh_token": came["refresh_token"]}
    pair = (await house.ask("POST", "/iam/v1/auth/refresh", old)).document

    house.clock.passes(11)
    replay = await house.ask("POST", "/iam/v1/auth/refresh", old)

    assert replay.verdict == (401, "REFRESH_INVALID")
    dead = await house.ask("GET", "/iam/v1/auth/sessions", token=pair["access_token"])
    assert dead.verdict == (401, "TOKEN_INVALID")
    assert ("authn_token_reuse", maria.id) in house.door.noticed


async def test_without_a_factor_a_login_is_a_session(house: House, maria):
    said = (await house.login(" MARIA@Example.com ")).document

    assert set(said) == {
        *("access_token", "refresh_token", "token_type", "expires_at", "refresh_expires_at"),
        *("user", "mfa_required"),
    }
    assert said["token_type"] == "Bearer"
    assert said["user"]["roles"] == ["admin"]


async def test_refreshing_does_not_move_the_end(house: House, maria):
    came = await house.signs_in()
    house.clock.passes(3600)

    pair = await house.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]})

    assert pair.document["refresh_expires_at"] == came["refresh_expires_at"]
    assert set(pair.document) == set(came) - {"user", "mfa_required"}


async def test_a_recovery_code_serves_once(house: House, maria):
    code = (await house.door.enrols())[3]

    async def gives() -> tuple[int, str]:
        token = (await house.login()).document["mfa_token"]
        body = {"mfa_token": token, "code": code}
        return (await house.ask("POST", "/iam/v1/auth/mfa", body)).verdict

    assert await gives() == (200, "")
    assert await gives() == (401, "MFA_INVALID")


async def test_what_happened_was_counted(house: House, maria):
    await house.door.enrols()
    house.counted.clear()
    await house.login(password="wrong wrong wrong")
    came = await house.signs_in()
    await house.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]})
    await house.ask("POST", "/iam/v1/auth/refresh", {"refresh_token": came["refresh_token"]})

    assert [each for each in house.counted if not each[0].startswith("quota")] == [
        ("login", "bad_credentials"),
        ("login", "mfa_required"),
        ("mfa", "totp.ok"),
        ("token_refresh", "ok"),
        ("token_refresh", "reuse_race"),
    ]
