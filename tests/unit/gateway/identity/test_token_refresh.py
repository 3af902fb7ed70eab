"""Tokens: issued and refreshed."""

import asyncio
from datetime import timedelta

import pytest

from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import PASSWORD_WRONG
from gateway.identity.token_refresh import TokenIssuer, TokenPair
from tests.world.identity import HOME, refusal
from tests.world.people import CLI


async def test_an_access_token_never_outlives_its_session(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(28_800 - 60)

    tokens = await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    assert tokens.expires_at == came.tokens.refresh_expires_at
    assert tokens.refresh_expires_at == came.tokens.refresh_expires_at


async def test_a_session_is_never_older_than_its_person_whatever_another_clock_said(
    identity_world, maria
):
    """Otherwise who changed the password on a node that is ahead could not sign in here."""
    identity_world.clock.passes(-2)

    came = await TokenIssuer(identity_world.context).begin(maria, HOME, None)

    assert await identity_world.who(came)
    session, _ = await identity_world.store.identity.sessions.find(came.tokens.session_id)
    assert session.created_at == maria.updated_at
    assert session.ends_at == identity_world.clock.now() + timedelta(hours=8)


async def test_no_token_is_kept(identity_world, maria):
    came = await identity_world.sign_in()

    async with identity_world.store.database.reading() as connection:
        dump = "\n".join([line async for line in _lines(await connection.get_raw_connection())])

    assert came.tokens.session_id in dump
    assert came.tokens.refresh_token not in dump
    assert came.tokens.access_token not in dump


async def _lines(connection):
    async for line in connection.driver_connection.iterdump():
        yield line


async def refused(identity_world, token: str) -> str:
    with pytest.raises(ServiceError) as problem:
        await identity_world.services.tokens.refresh(token)
    assert problem.value.error.code == "REFRESH_INVALID"
    return problem.value.reason


async def test_a_token_is_exchanged_for_the_next_pair(identity_world, maria):
    came = await identity_world.sign_in()

    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    assert pair.session_id == came.tokens.session_id
    assert pair.refresh_token != came.tokens.refresh_token
    assert (
        await identity_world.services.sessions.authenticate(pair.access_token)
    ).user_id == maria.id


async def test_refreshing_does_not_move_the_end(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(3600)

    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    assert pair.refresh_expires_at == came.tokens.refresh_expires_at


async def test_a_refreshed_session_ends_eight_hours_after_the_sign_in(identity_world, maria):
    """Decisions 7; the answer of a refresh cannot tell: it is made before the row changes."""
    came = await identity_world.sign_in()
    identity_world.clock.passes(3600)

    await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    [session] = await identity_world.services.sessions.list(came.person)
    assert session.ends_at == came.tokens.refresh_expires_at


async def test_of_ten_at_once_one_wins_and_its_pair_works(identity_world, maria):
    """A concurrent refresh signs the others out, not the session (contract 4.2)."""
    came = await identity_world.sign_in()

    answers = await asyncio.gather(
        *(identity_world.services.tokens.refresh(came.tokens.refresh_token) for _ in range(10)),
        return_exceptions=True,
    )

    won = [each for each in answers if isinstance(each, TokenPair)]
    assert len(won) == 1
    assert {refusal(each) for each in answers if each is not won[0]} == {
        ("refresh_invalid", "used")
    }
    assert await identity_world.services.tokens.refresh(won[0].refresh_token)
    assert not [word for word, _ in identity_world.security_events if word == "authn_token_reuse"]


async def test_the_one_before_within_ten_seconds_fails_its_caller_alone(identity_world, maria):
    came = await identity_world.sign_in()
    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    identity_world.clock.passes(10)

    assert await refused(identity_world, came.tokens.refresh_token) == "used"

    assert await identity_world.services.tokens.refresh(pair.refresh_token)


async def test_later_it_ends_the_session_and_alarms(identity_world, maria):
    came = await identity_world.sign_in()
    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    identity_world.clock.passes(10.001)

    assert await refused(identity_world, came.tokens.refresh_token) == "used"

    assert ("authn_token_reuse", maria.id) in identity_world.security_events
    assert await refused(identity_world, pair.refresh_token) == "session_over"
    with pytest.raises(ServiceError):
        await identity_world.services.sessions.authenticate(pair.access_token)


async def test_one_before_that_ends_it_however_soon(identity_world, maria):
    """The window is for the immediate predecessor: some kept older ones alive for ever."""
    came = await identity_world.sign_in()
    second = await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    third = await identity_world.services.tokens.refresh(second.refresh_token)

    assert await refused(identity_world, came.tokens.refresh_token) == "used"

    assert await refused(identity_world, third.refresh_token) == "session_over"


async def test_the_alarm_is_raised_once(identity_world, maria):
    came = await identity_world.sign_in()
    await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    identity_world.clock.passes(11)
    for _ in range(3):
        await refused(identity_world, came.tokens.refresh_token)

    assert identity_world.security_events.count(("authn_token_reuse", maria.id)) == 1


async def test_after_eight_hours_it_is_over(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(28_800)

    assert await refused(identity_world, came.tokens.refresh_token) == "session_over"


@pytest.mark.parametrize("token", ["", "made up", "\ud800"])
async def test_a_made_up_token_is_unknown(identity_world, token: str):
    assert await refused(identity_world, token) == "unknown"


async def test_an_access_token_refreshes_nothing(identity_world, maria):
    came = await identity_world.sign_in()

    assert await refused(identity_world, came.tokens.access_token) == "unknown"


async def test_after_logout_it_is_over(identity_world, maria):
    came = await identity_world.sign_in()
    await identity_world.services.sessions.logout(came.person)

    assert await refused(identity_world, came.tokens.refresh_token) == "session_over"


async def test_a_disabled_person_does_not_refresh(identity_world, maria, monkeypatch):
    """Even if the sessions could not be ended: the person is read too."""
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(identity_world.store.identity.sessions, "end_all", silent)
    with pytest.raises(StoreUnavailable):
        await identity_world.services.users.disable(CLI, maria.id, ReasonBody())

    assert await refused(identity_world, came.tokens.refresh_token) == "person_changed"


async def test_every_outcome_of_a_refresh_is_counted(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.counted.clear()

    await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    for token in (came.tokens.refresh_token, "made up"):
        with pytest.raises(ServiceError):
            await identity_world.services.tokens.refresh(token)

    assert identity_world.counted == [
        ("token_refresh", "ok"),
        ("token_refresh", "reuse_race"),
        ("token_refresh", "invalid_grant"),
    ]


@pytest.mark.parametrize("problem", [StoreUnavailable(), ServiceError(PASSWORD_WRONG)], ids=str)
async def test_what_is_no_outcome_is_not_counted(identity_world, monkeypatch, problem: Exception):
    async def fails(_digest: bytes):
        raise problem

    monkeypatch.setattr(identity_world.store.identity.sessions, "refresh_token", fails)
    with pytest.raises(type(problem)):
        await identity_world.services.tokens.refresh("a")

    assert identity_world.counted == []


async def test_an_exchange_counts_nothing(identity_world, maria):
    """The panel counts its refreshes itself."""
    came = await identity_world.sign_in()
    identity_world.counted.clear()

    assert await identity_world.services.tokens.exchange(came.tokens.refresh_token)

    assert identity_world.counted == []
