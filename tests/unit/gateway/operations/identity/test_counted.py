"""Sign-ins and refreshes, counted."""

from __future__ import annotations

import pytest

from gateway.domain.errors import ServiceError
from gateway.domain.identity_errors import PASSWORD_WRONG
from gateway.domain.stores import StoreUnavailable
from gateway.operations.identity.counted import CountedRefreshing, CountedSigningIn
from tests.unit.door import EMAIL, HOME, PASSWORD


@pytest.fixture
def seen() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def entrance(door, seen) -> CountedSigningIn:
    return CountedSigningIn(door.desk.signing_in, lambda *each: seen.append(each))


async def test_every_outcome_of_a_password_has_a_word(door, maria, entrance, seen):
    await entrance.login(EMAIL, PASSWORD, HOME)
    await door.enrols()
    await entrance.login(EMAIL, PASSWORD, HOME)
    for number in range(6):
        with pytest.raises(ServiceError):
            await entrance.login(EMAIL, f"wrong wrong {number}", HOME)

    assert {word for _, word in seen} == {"ok", "mfa_required", "bad_credentials", "locked"}
    assert seen[:2] == [("login", "ok"), ("login", "mfa_required")]
    assert seen[-1] == ("login", "locked")


async def test_every_outcome_of_a_code_has_a_word(door, maria, entrance, seen):
    codes = await door.enrols()

    async def gives(code: str, token: str = "") -> None:
        asked = await entrance.login(EMAIL, PASSWORD, HOME)
        try:
            await entrance.give_factor(token or asked.mfa_token, code, HOME)
        except ServiceError:
            return

    await gives(door.wrong_code())
    await gives(door.code())
    await gives(codes[0])
    await gives(codes[0])
    await gives("123456", "made up")

    assert [label for event, label in seen if event == "mfa"] == [
        "totp.wrong",
        "totp.ok",
        "recovery.ok",
        "recovery.wrong",
        "totp.expired",
    ]


async def test_every_outcome_of_a_refresh_has_a_word(door, maria, seen):
    tokens = CountedRefreshing(door.desk.refreshing, lambda *each: seen.append(each))
    came = await door.comes_in()

    await tokens.refresh(came.tokens.refresh_token)
    for token in (came.tokens.refresh_token, "made up"):
        with pytest.raises(ServiceError):
            await tokens.refresh(token)

    assert seen == [
        ("token_refresh", "ok"),
        ("token_refresh", "reuse_race"),
        ("token_refresh", "invalid_grant"),
    ]


@pytest.mark.parametrize("problem", [StoreUnavailable(), ServiceError(PASSWORD_WRONG)], ids=str)
async def test_what_is_no_outcome_is_not_counted(problem: Exception, seen):
    class Failing:
        async def refresh(self, _token: str):
            raise problem

    with pytest.raises(type(problem)):
        await CountedRefreshing(Failing(), lambda *each: seen.append(each)).refresh("a")

    assert seen == []
