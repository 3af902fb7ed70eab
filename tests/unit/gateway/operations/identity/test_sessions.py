"""Sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.operations.identity.sessions import UserSessions
from tests import registers
from tests.unit.door import door_of, refusal
from tests.unit.standing import Clock


async def out(door, came) -> str:
    with pytest.raises(ServiceError) as problem:
        await door.who(came)
    assert problem.value.error.code == "TOKEN_INVALID"
    return problem.value.reason


async def test_a_caller_is_known_by_their_access_token(door, maria):
    came = await door.comes_in()

    person = await door.who(came)

    assert (person.email, person.roles, person.session_id) == (
        maria.email,
        maria.roles,
        came.tokens.session_id,
    )


async def test_after_logout_the_token_is_dead_at_once(door, maria):
    """Though its ten minutes are not over: the session is read at each call."""
    came = await door.comes_in()
    await door.who(came)

    await door.services.sessions.logout(came.person)

    assert await out(door, came) == "session_over"


async def test_logging_out_again_is_no_mistake(door, maria):
    came = await door.comes_in()

    await door.services.sessions.logout(came.person)
    await door.services.sessions.logout(came.person)


async def test_a_store_that_fails_is_never_a_logout(door, maria, monkeypatch):
    """Some answered 200 with the token alive."""
    came = await door.comes_in()

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(door.store.identity.sessions, "end", silent)

    with pytest.raises(StoreUnavailable):
        await door.services.sessions.logout(came.person)


async def test_a_store_that_fails_lets_nobody_in(door, maria, monkeypatch):
    came = await door.comes_in()
    await door.who(came)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(door.store.identity.sessions, "find", silent)

    with pytest.raises(StoreUnavailable):
        await door.who(came)


async def test_a_person_sees_and_ends_their_own_sessions_only(door, maria):
    await door.person("other@example.com")
    mine, also_mine = await door.comes_in(), await door.comes_in()
    theirs = await door.comes_in("other@example.com")

    listed = await door.services.sessions.list(mine.person)
    assert {each.id for each in listed} == {mine.tokens.session_id, also_mine.tokens.session_id}
    with pytest.raises(ServiceError) as refused:
        await door.services.sessions.end(mine.person, theirs.tokens.session_id)
    await door.services.sessions.end(mine.person, also_mine.tokens.session_id.upper())

    assert refusal(refused.value) == ("not_found", "session")
    assert await out(door, also_mine) == "session_over"
    assert await door.who(theirs)
    assert await door.who(mine)


@pytest.mark.parametrize("session_id", ["", "x", "00000000-0000-4000-8000-000000000000"])
async def test_a_session_that_is_not_there_is_not_found(door, maria, session_id: str):
    came = await door.comes_in()

    with pytest.raises(ServiceError) as refused:
        await door.services.sessions.end(came.person, session_id)

    assert refusal(refused.value) == ("not_found", "session")


async def test_the_others_are_ended_together(door, maria):
    others = [await door.comes_in() for _ in range(3)]
    mine = await door.comes_in()

    assert await door.services.sessions.end_others(mine.person) == 3

    assert await door.who(mine)
    assert {await out(door, each) for each in others} == {"session_over"}


async def test_all_are_ended_together(door, maria):
    mine = await door.comes_in()

    assert await door.services.sessions.end_all(mine.person) == 1

    assert await out(door, mine) == "session_over"


async def test_a_use_is_noted_once_a_minute(door, maria):
    came = await door.comes_in()
    began = door.clock.now()
    seen = []

    for _ in range(3):
        door.clock.passes(30)
        await door.who(came)
        seen.append((await door.services.sessions.list(came.person))[0].seen_at)

    assert [(each - began).total_seconds() for each in seen] == [0, 60, 60]


async def test_a_token_of_a_forgotten_session_is_dead(door, maria):
    came = await door.comes_in()
    await door.services.sessions.logout(came.person)
    door.clock.passes(1)
    await door.store.identity.sessions.forget(door.clock.now())

    assert await out(door, came) == "session_unknown"


async def test_a_change_of_the_person_ends_their_sessions_by_itself(door, maria, monkeypatch):
    """Even where the store fails right after the change."""
    came = await door.comes_in()
    door.clock.passes(1)

    async def silent(*arguments):
        raise StoreUnavailable

    monkeypatch.setattr(door.store.identity.sessions, "end_all", silent)
    with pytest.raises(StoreUnavailable):
        await door.services.users.set_roles("cli", maria.id, maria.roles)

    assert await out(door, came) == "person_changed"


async def test_a_sign_in_that_is_ended_opens_nothing(tmp_path: Path):
    """At once, whatever was remembered of its tokens, and under the name of who ended it."""
    async with registers.opened(tmp_path) as office:
        door = door_of(office.store, Clock())
        await door.services.signing_keys.ensure()
        maria = await door.person()
        one, other = await door.comes_in(), await door.comes_in()
        others = UserSessions(door.context)
        await door.who(one)
        session = next(
            each for each in await others.list(maria.id) if each.id == one.person.session_id
        )

        ended = await others.end("user:ana@example.com", session)

        assert ended
        assert not await others.end("user:ana@example.com", session)
        with pytest.raises(ServiceError):
            await door.who(one)
        assert (await door.who(other)).user_id == maria.id
        ends = [each for each in await office.acts() if each.action == "session.ended"]
        assert [each.actor for each in ends] == ["user:ana@example.com"]
        door.hasher.close()
