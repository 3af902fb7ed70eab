"""Tokens: issued and refreshed."""

import asyncio
from datetime import timedelta

import pytest

from gateway.domain.identity.errors import PASSWORD_WRONG
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.operations.identity.tokens import TokenIssuer, TokenPair
from tests.unit.door import HOME, refusal


async def test_an_access_token_never_outlives_its_session(door, maria):
    came = await door.comes_in()
    door.clock.passes(28_800 - 60)

    tokens = await door.services.tokens.refresh(came.tokens.refresh_token)

    assert tokens.expires_at == came.tokens.refresh_expires_at
    assert tokens.refresh_expires_at == came.tokens.refresh_expires_at


async def test_a_session_is_never_older_than_its_person_whatever_another_clock_said(door, maria):
    """Otherwise who changed the password on a node that is ahead could not sign in here."""
    door.clock.passes(-2)

    came = await TokenIssuer(door.context).begin(maria, HOME, None)

    assert await door.who(came)
    session, _ = await door.store.identity.sessions.find(came.tokens.session_id)
    assert session.created_at == maria.updated_at
    assert session.ends_at == door.clock.now() + timedelta(hours=8)


async def test_no_token_is_kept(door, maria):
    came = await door.comes_in()

    async with door.store.database.reading() as connection:
        dump = "\n".join([line async for line in _lines(await connection.get_raw_connection())])

    assert came.tokens.session_id in dump
    assert came.tokens.refresh_token not in dump
    assert came.tokens.access_token not in dump


async def _lines(connection):
    async for line in connection.driver_connection.iterdump():
        yield line


async def refused(door, token: str) -> str:
    with pytest.raises(ServiceError) as problem:
        await door.services.tokens.refresh(token)
    assert problem.value.error.code == "REFRESH_INVALID"
    return problem.value.reason


async def test_a_token_is_exchanged_for_the_next_pair(door, maria):
    came = await door.comes_in()

    pair = await door.services.tokens.refresh(came.tokens.refresh_token)

    assert pair.session_id == came.tokens.session_id
    assert pair.refresh_token != came.tokens.refresh_token
    assert (await door.services.sessions.authenticate(pair.access_token)).user_id == maria.id


async def test_refreshing_does_not_move_the_end(door, maria):
    came = await door.comes_in()
    door.clock.passes(3600)

    pair = await door.services.tokens.refresh(came.tokens.refresh_token)

    assert pair.refresh_expires_at == came.tokens.refresh_expires_at


async def test_of_ten_at_once_one_wins_and_its_pair_works(door, maria):
    """A concurrent refresh signs the others out, not the session (contract 4.2)."""
    came = await door.comes_in()

    answers = await asyncio.gather(
        *(door.services.tokens.refresh(came.tokens.refresh_token) for _ in range(10)),
        return_exceptions=True,
    )

    won = [each for each in answers if isinstance(each, TokenPair)]
    assert len(won) == 1
    assert {refusal(each) for each in answers if each is not won[0]} == {
        ("refresh_invalid", "used")
    }
    assert await door.services.tokens.refresh(won[0].refresh_token)
    assert not [word for word, _ in door.noticed if word == "authn_token_reuse"]


async def test_the_one_before_within_ten_seconds_fails_its_caller_alone(door, maria):
    came = await door.comes_in()
    pair = await door.services.tokens.refresh(came.tokens.refresh_token)
    door.clock.passes(10)

    assert await refused(door, came.tokens.refresh_token) == "used"

    assert await door.services.tokens.refresh(pair.refresh_token)


async def test_later_it_ends_the_session_and_alarms(door, maria):
    came = await door.comes_in()
    pair = await door.services.tokens.refresh(came.tokens.refresh_token)
    door.clock.passes(10.001)

    assert await refused(door, came.tokens.refresh_token) == "used"

    assert ("authn_token_reuse", maria.id) in door.noticed
    assert await refused(door, pair.refresh_token) == "session_over"
    with pytest.raises(ServiceError):
        await door.services.sessions.authenticate(pair.access_token)


async def test_one_before_that_ends_it_however_soon(door, maria):
    """The window is for the immediate predecessor: some kept older ones alive for ever."""
    came = await door.comes_in()
    second = await door.services.tokens.refresh(came.tokens.refresh_token)
    third = await door.services.tokens.refresh(second.refresh_token)

    assert await refused(door, came.tokens.refresh_token) == "used"

    assert await refused(door, third.refresh_token) == "session_over"


async def test_the_alarm_is_raised_once(door, maria):
    came = await door.comes_in()
    await door.services.tokens.refresh(came.tokens.refresh_token)
    door.clock.passes(11)
    for _ in range(3):
        await refused(door, came.tokens.refresh_token)

    assert door.noticed.count(("authn_token_reuse", maria.id)) == 1


async def test_after_eight_hours_it_is_over(door, maria):
    came = await door.comes_in()
    door.clock.passes(28_800)

    assert await refused(door, came.tokens.refresh_token) == "session_over"


@pytest.mark.parametrize("token", ["", "made up", "\ud800"])
async def test_a_made_up_token_is_unknown(door, token: str):
    assert await refused(door, token) == "unknown"


async def test_an_access_token_refreshes_nothing(door, maria):
    came = await door.comes_in()

    assert await refused(door, came.tokens.access_token) == "unknown"


async def test_after_logout_it_is_over(door, maria):
    came = await door.comes_in()
    await door.services.sessions.logout(came.person)

    assert await refused(door, came.tokens.refresh_token) == "session_over"


async def test_a_disabled_person_does_not_refresh(door, maria, monkeypatch):
    """Even if the sessions could not be ended: the person is read too."""
    came = await door.comes_in()
    door.clock.passes(1)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(door.store.identity.sessions, "end_all", silent)
    with pytest.raises(StoreUnavailable):
        await door.services.users.disable("cli", maria.id)

    assert await refused(door, came.tokens.refresh_token) == "person_changed"


async def test_every_outcome_of_a_refresh_is_counted(door, maria):
    came = await door.comes_in()
    door.counted.clear()

    await door.services.tokens.refresh(came.tokens.refresh_token)
    for token in (came.tokens.refresh_token, "made up"):
        with pytest.raises(ServiceError):
            await door.services.tokens.refresh(token)

    assert door.counted == [
        ("token_refresh", "ok"),
        ("token_refresh", "reuse_race"),
        ("token_refresh", "invalid_grant"),
    ]


@pytest.mark.parametrize("problem", [StoreUnavailable(), ServiceError(PASSWORD_WRONG)], ids=str)
async def test_what_is_no_outcome_is_not_counted(door, monkeypatch, problem: Exception):
    async def fails(_digest: bytes):
        raise problem

    monkeypatch.setattr(door.store.identity.sessions, "refresh_token", fails)
    with pytest.raises(type(problem)):
        await door.services.tokens.refresh("a")

    assert door.counted == []


async def test_an_exchange_counts_nothing(door, maria):
    """The panel counts its refreshes itself."""
    came = await door.comes_in()
    door.counted.clear()

    assert await door.services.tokens.exchange(came.tokens.refresh_token)

    assert door.counted == []
