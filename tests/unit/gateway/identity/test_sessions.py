"""Sessions."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gateway.core.errors import ServiceError
from gateway.core.schemas import ReasonBody
from gateway.core.sessions import public_id
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import PASSWORD_WRONG
from gateway.identity.model import RolesBody
from gateway.identity.sessions import TokenIssuer
from tests.world import registers
from tests.world.identity import HOME, identity_world_on, refusal, refusal_of
from tests.world.people import CLI
from tests.world.standing import Clock


async def out(identity_world, came) -> str:
    with pytest.raises(ServiceError) as problem:
        await identity_world.who(came)
    assert problem.value.error.code == "TOKEN_INVALID"
    return problem.value.reason


async def test_an_access_token_identifies_its_user(identity_world, maria):
    came = await identity_world.sign_in()

    person = await identity_world.who(came)

    assert (person.email, person.roles, person.session_id) == (
        maria.email,
        maria.roles,
        came.tokens.session_id,
    )


async def test_after_logout_the_access_token_is_refused_at_once(identity_world, maria):
    """Before its ten minutes are over: the session is read for each call."""
    came = await identity_world.sign_in()
    await identity_world.who(came)

    await identity_world.services.sessions.logout(came.person)

    assert await out(identity_world, came) == "session_over"


async def test_a_second_logout_succeeds(identity_world, maria):
    came = await identity_world.sign_in()

    await identity_world.services.sessions.logout(came.person)
    await identity_world.services.sessions.logout(came.person)


async def test_a_user_sees_and_ends_only_their_own_sessions(identity_world, maria):
    await identity_world.person("other@example.com")
    mine, also_mine = await identity_world.sign_in(), await identity_world.sign_in()
    theirs = await identity_world.sign_in("other@example.com")

    listed = await identity_world.services.sessions.list(mine.person)
    assert {each.id for each in listed} == {mine.tokens.session_id, also_mine.tokens.session_id}
    with pytest.raises(ServiceError) as refused:
        await identity_world.services.sessions.end(mine.person, theirs.tokens.session_id)
    await identity_world.services.sessions.end(mine.person, public_id(also_mine.tokens.session_id))

    assert refusal(refused.value) == ("not_found", "session")
    assert await out(identity_world, also_mine) == "session_over"
    assert await identity_world.who(theirs)
    assert await identity_world.who(mine)


@pytest.mark.parametrize("session_id", ["", "x", "00000000-0000-4000-8000-000000000000"])
async def test_an_absent_session_is_not_found(identity_world, maria, session_id: str):
    came = await identity_world.sign_in()

    assert await refusal_of(identity_world.services.sessions.end(came.person, session_id)) == (
        "not_found",
        "session",
    )


async def test_a_user_ends_all_their_other_sessions(identity_world, maria):
    await identity_world.person("other@example.com")
    others = [await identity_world.sign_in() for _ in range(3)]
    mine, theirs = await identity_world.sign_in(), await identity_world.sign_in("other@example.com")

    assert await identity_world.services.sessions.end_others(mine.person) == 3

    assert await identity_world.who(mine)
    assert await identity_world.who(theirs)
    assert {await out(identity_world, each) for each in others} == {"session_over"}


async def test_a_token_of_a_deleted_session_is_refused(identity_world, maria):
    came = await identity_world.sign_in()
    await identity_world.services.sessions.logout(came.person)
    identity_world.clock.passes(1)
    await identity_world.store.identity.sessions.forget(identity_world.clock.now())

    assert await out(identity_world, came) == "session_unknown"


async def test_a_change_of_the_user_invalidates_their_sessions(identity_world, maria, monkeypatch):
    """Even if the store fails right after the change."""
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(identity_world.store.identity.sessions, "end_all", silent)
    with pytest.raises(StoreUnavailable):
        await identity_world.services.users.set_roles(CLI, maria.id, RolesBody(list(maria.roles)))

    assert await out(identity_world, came) == "person_changed"


async def test_a_session_ended_by_an_operator_is_refused_at_once(tmp_path: Path):
    """Whatever is cached of its tokens, and with the name of who ended it."""
    async with registers.opened(tmp_path) as office:
        identity_world = identity_world_on(office.store, Clock())
        await identity_world.services.signing_keys.ensure()
        maria = await identity_world.person()
        one, other = await identity_world.sign_in(), await identity_world.sign_in()
        sessions = identity_world.services.sessions
        await identity_world.who(one)
        ending = ("user:ana@example.com", maria.id, one.person.session_id)

        assert await sessions.end_of(*ending)

        assert not await sessions.end_of(*ending)
        with pytest.raises(ServiceError):
            await identity_world.who(one)
        assert (await identity_world.who(other)).user_id == maria.id
        ends = [each for each in await office.acts() if each.action == "session.ended"]
        assert [each.actor for each in ends] == ["user:ana@example.com"]
        identity_world.hasher.close()


async def test_an_access_token_never_outlives_its_session(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(28_800 - 60)

    tokens = await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    assert tokens.expires_at == came.tokens.refresh_expires_at
    assert tokens.refresh_expires_at == came.tokens.refresh_expires_at


async def test_a_session_never_starts_before_the_user_s_latest_change(identity_world, maria):
    """Otherwise a password changed on a node with a clock ahead could not be used here."""
    identity_world.clock.passes(-2)

    came = await TokenIssuer(identity_world.context).begin(maria, HOME, None)

    assert await identity_world.who(came)
    session, _ = await identity_world.store.identity.sessions.find(came.tokens.session_id)
    assert session.created_at == maria.updated_at
    assert session.ends_at == identity_world.clock.now() + timedelta(hours=8)


async def test_no_token_is_stored(identity_world, maria):
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


async def test_a_refresh_does_not_extend_the_session(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(3600)

    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    assert pair.refresh_expires_at == came.tokens.refresh_expires_at


async def test_a_refreshed_session_ends_eight_hours_after_the_sign_in(identity_world, maria):
    """Decisions 7; an answer cannot show it, because it is made before the row changes."""
    came = await identity_world.sign_in()
    identity_world.clock.passes(3600)

    await identity_world.services.tokens.refresh(came.tokens.refresh_token)

    [session] = await identity_world.services.sessions.list(came.person)
    assert session.ends_at == came.tokens.refresh_expires_at


async def test_reusing_the_previous_refresh_token_within_ten_seconds_is_refused(
    identity_world, maria
):
    came = await identity_world.sign_in()
    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    identity_world.clock.passes(10)

    assert await refused(identity_world, came.tokens.refresh_token) == "used"

    assert await identity_world.services.tokens.refresh(pair.refresh_token)


async def test_reusing_the_previous_refresh_token_later_ends_the_session(identity_world, maria):
    came = await identity_world.sign_in()
    pair = await identity_world.services.tokens.refresh(came.tokens.refresh_token)
    identity_world.clock.passes(10.001)

    assert await refused(identity_world, came.tokens.refresh_token) == "used"

    assert ("authn_token_reuse", maria.id) in identity_world.security_events
    assert await refused(identity_world, pair.refresh_token) == "session_over"
    with pytest.raises(ServiceError):
        await identity_world.services.sessions.authenticate(pair.access_token)


async def test_reusing_an_older_refresh_token_ends_the_session(identity_world, maria):
    """The tolerance is only for the previous token; older ones would stay valid for ever."""
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


async def test_a_session_cannot_be_refreshed_after_eight_hours(identity_world, maria):
    came = await identity_world.sign_in()
    identity_world.clock.passes(28_800)

    assert await refused(identity_world, came.tokens.refresh_token) == "session_over"


@pytest.mark.parametrize("token", ["", "made up", "\ud800"])
async def test_an_unknown_refresh_token_is_refused(identity_world, token: str):
    assert await refused(identity_world, token) == "session_unknown"


async def test_an_access_token_is_refused_as_refresh_token(identity_world, maria):
    came = await identity_world.sign_in()

    assert await refused(identity_world, came.tokens.access_token) == "session_unknown"


async def test_a_disabled_user_cannot_refresh(identity_world, maria, monkeypatch):
    """Even if their sessions could not be ended: the user is read too."""
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
async def test_an_unexpected_error_is_not_counted_as_an_outcome(
    identity_world, monkeypatch, problem: Exception
):
    async def fails(_digest: bytes):
        raise problem

    monkeypatch.setattr(identity_world.store.identity.sessions, "refresh_token", fails)
    with pytest.raises(type(problem)):
        await identity_world.services.tokens.refresh("a")

    assert identity_world.counted == []


async def test_an_exchange_for_the_panel_is_not_counted(identity_world, maria):
    """The panel counts its own refreshes."""
    came = await identity_world.sign_in()
    identity_world.counted.clear()

    assert await identity_world.services.tokens.exchange(came.tokens.refresh_token)

    assert identity_world.counted == []
