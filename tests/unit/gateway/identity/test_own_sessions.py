"""Sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.core.errors import ServiceError
from gateway.core.sessions import public_id
from gateway.core.storage import StoreUnavailable
from gateway.identity.model import RolesBody
from tests.world import registers
from tests.world.identity import identity_world_on, refusal
from tests.world.people import CLI
from tests.world.standing import Clock


async def out(identity_world, came) -> str:
    with pytest.raises(ServiceError) as problem:
        await identity_world.who(came)
    assert problem.value.error.code == "TOKEN_INVALID"
    return problem.value.reason


async def test_a_caller_is_known_by_their_access_token(identity_world, maria):
    came = await identity_world.sign_in()

    person = await identity_world.who(came)

    assert (person.email, person.roles, person.session_id) == (
        maria.email,
        maria.roles,
        came.tokens.session_id,
    )


async def test_after_logout_the_token_is_dead_at_once(identity_world, maria):
    """Though its ten minutes are not over: the session is read at each call."""
    came = await identity_world.sign_in()
    await identity_world.who(came)

    await identity_world.services.sessions.logout(came.person)

    assert await out(identity_world, came) == "session_over"


async def test_logging_out_again_is_no_mistake(identity_world, maria):
    came = await identity_world.sign_in()

    await identity_world.services.sessions.logout(came.person)
    await identity_world.services.sessions.logout(came.person)


async def test_a_store_that_fails_is_never_a_logout(identity_world, maria, monkeypatch):
    """Some answered 200 with the token alive."""
    came = await identity_world.sign_in()

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(identity_world.store.identity.sessions, "end", silent)

    with pytest.raises(StoreUnavailable):
        await identity_world.services.sessions.logout(came.person)


async def test_a_store_that_fails_lets_nobody_in(identity_world, maria, monkeypatch):
    came = await identity_world.sign_in()
    await identity_world.who(came)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(identity_world.store.identity.sessions, "find", silent)

    with pytest.raises(StoreUnavailable):
        await identity_world.who(came)


async def test_a_person_sees_and_ends_their_own_sessions_only(identity_world, maria):
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
async def test_a_session_that_is_not_there_is_not_found(identity_world, maria, session_id: str):
    came = await identity_world.sign_in()

    with pytest.raises(ServiceError) as refused:
        await identity_world.services.sessions.end(came.person, session_id)

    assert refusal(refused.value) == ("not_found", "session")


async def test_the_others_are_ended_together(identity_world, maria):
    await identity_world.person("other@example.com")
    others = [await identity_world.sign_in() for _ in range(3)]
    mine, theirs = await identity_world.sign_in(), await identity_world.sign_in("other@example.com")

    assert await identity_world.services.sessions.end_others(mine.person) == 3

    assert await identity_world.who(mine)
    assert await identity_world.who(theirs)
    assert {await out(identity_world, each) for each in others} == {"session_over"}


async def test_a_use_is_noted_once_a_minute(identity_world, maria):
    came = await identity_world.sign_in()
    began = identity_world.clock.now()
    seen = []

    for _ in range(3):
        identity_world.clock.passes(30)
        await identity_world.who(came)
        seen.append((await identity_world.services.sessions.list(came.person))[0].seen_at)

    assert [(each - began).total_seconds() for each in seen] == [0, 60, 60]


async def test_a_token_of_a_forgotten_session_is_dead(identity_world, maria):
    came = await identity_world.sign_in()
    await identity_world.services.sessions.logout(came.person)
    identity_world.clock.passes(1)
    await identity_world.store.identity.sessions.forget(identity_world.clock.now())

    assert await out(identity_world, came) == "session_unknown"


async def test_a_change_of_the_person_ends_their_sessions_by_itself(
    identity_world, maria, monkeypatch
):
    """Even where the store fails right after the change."""
    came = await identity_world.sign_in()
    identity_world.clock.passes(1)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(identity_world.store.identity.sessions, "end_all", silent)
    with pytest.raises(StoreUnavailable):
        await identity_world.services.users.set_roles(CLI, maria.id, RolesBody(list(maria.roles)))

    assert await out(identity_world, came) == "person_changed"


async def test_a_sign_in_that_is_ended_opens_nothing(tmp_path: Path):
    """At once, whatever was remembered of its tokens, and under the name of who ended it."""
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
