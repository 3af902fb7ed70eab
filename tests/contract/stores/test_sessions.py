"""Sign-ins and refresh tokens in the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from gateway.app.store import Store
from tests.contract.stores.databases import both
from tests.world.stores.people import END, MARIA, session, signed_in, token, user
from tests.world.stores.samples import NOW, event


@both
async def test_a_session_is_read_back_with_its_user(store: Store):
    await signed_in(store)

    assert await store.identity.sessions.find("s1") == (session(), user())
    assert await store.identity.sessions.refresh_token(token().digest) == token()
    assert await store.identity.sessions.find("s2") is None
    assert await store.identity.sessions.refresh_token(b"?") is None


@both
async def test_of_ten_concurrent_refreshes_one_succeeds(store: Store, second: Store):
    """On two nodes; only the winner's token is stored (contract 4.2)."""
    await signed_in(store)
    nodes = [store.identity.sessions, second.identity.sessions] * 5

    won = await asyncio.gather(
        *(node.rotate(token(), token(number), NOW) for number, node in enumerate(nodes, 2))
    )

    assert sum(won) == 1
    stored = [await store.identity.sessions.refresh_token(token(n).digest) for n in range(2, 12)]
    assert [each is not None for each in stored] == won
    used = await store.identity.sessions.refresh_token(token().digest)
    assert used == replace(token(), used_at=NOW)


async def test_a_session_that_has_ended_is_not_refreshed(store: Store):
    """And its token is not used up by the attempt."""
    await signed_in(store)
    await store.identity.sessions.end("s1", NOW, "logout", event())

    assert not await store.identity.sessions.rotate(token(), token(2), NOW)

    assert await store.identity.sessions.refresh_token(token().digest) == token()


async def test_an_expired_session_is_not_refreshed(store: Store):
    await signed_in(store)

    assert not await store.identity.sessions.rotate(token(), token(2), END)


async def test_a_session_ends_once(store: Store, second: Store):
    await signed_in(store)

    first = await store.identity.sessions.end("s1", NOW, "logout", event())
    again = await second.identity.sessions.end("s1", END, "other", None)

    found = await store.identity.sessions.find("s1")
    assert (first, again) == (True, False)
    assert found is not None
    assert found[0] == replace(session(), ended_at=NOW, ended_by="logout")


@both
async def test_all_sessions_of_a_user_end_except_the_kept_one(store: Store):
    await signed_in(store)
    for name in ("s2", "s3"):
        await store.identity.sessions.begin(session(name), token(1, name), event())

    ended = await store.identity.sessions.end_all(MARIA, NOW, "password", "s2", event())

    assert ended == 2
    assert [each.id for each in await store.identity.sessions.of(MARIA, NOW)] == ["s2"]


async def test_only_active_sessions_are_listed(store: Store):
    await signed_in(store)

    assert await store.identity.sessions.of(MARIA, END - timedelta(seconds=1)) == [session()]
    assert await store.identity.sessions.of(MARIA, END) == []


@both
async def test_the_last_seen_time_is_updated_once_a_minute(store: Store):
    await signed_in(store)

    for seconds in (59, 60, 61):
        await store.identity.sessions.touch("s1", NOW + timedelta(seconds=seconds))

    found = await store.identity.sessions.find("s1")
    assert found is not None
    assert found[0].seen_at == NOW + timedelta(seconds=60)


@both
async def test_the_time_of_the_second_factor_is_stored(store: Store):
    await signed_in(store)

    await store.identity.sessions.note_factor("s1", NOW)

    found = await store.identity.sessions.find("s1")
    assert found is not None
    assert found[0].factor_at == NOW


@both
async def test_expired_sessions_are_deleted_with_their_tokens(store: Store):
    await signed_in(store)
    await store.identity.sessions.begin(session("s2"), token(1, "s2"), event())
    await store.identity.sessions.end("s1", NOW, "logout", None)

    assert await store.identity.sessions.forget(NOW + timedelta(seconds=1)) == 1

    assert await store.identity.sessions.find("s1") is None
    assert await store.identity.sessions.refresh_token(token().digest) is None
    assert await store.identity.sessions.find("s2") is not None


@both
async def test_the_number_of_the_newest_token_is_found(store: Store):
    await signed_in(store)
    await store.identity.sessions.rotate(token(), token(2), NOW)

    assert await store.identity.sessions.last_number("s1") == 2
    assert await store.identity.sessions.last_number("s2") == 0
