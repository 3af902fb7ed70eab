"""Tokens refreshed behind the scenes: once, however many calls there are."""

from __future__ import annotations

import asyncio

import pytest

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.store.engine import Store
from tests.surfaces.house import House, Window, at_once, house_on

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])
PATH = "/panel/auth/sessions"


def refreshes(house: House) -> list[str]:
    """Return what was counted of refreshing."""
    return [label for event, label in house.counted if event == "token_refresh"]


@BOTH
async def test_of_twenty_calls_at_once_one_refreshes(house: House, maria):
    window = await house.seated()
    house.clock.passes(541)

    answers = await at_once(*(window.gets(PATH) for _ in range(20)))

    assert {each.status for each in answers} == {200}
    assert refreshes(house).count("ok") == 1
    assert set(refreshes(house)) <= {"ok", "coalesced"}


@BOTH
async def test_two_nodes_refresh_once(house: House, store: Store, maria):
    """The lease in the store decides which."""
    window = await house.seated()
    house.clock.passes(541)
    async with house_on(store, house.clock) as other:
        there = Window(other, window.cookie, window.csrf)

        answers = await at_once(*(each.gets(PATH) for each in (window, there) for _ in range(10)))

        assert {each.status for each in answers} == {200}
        assert (refreshes(house) + refreshes(other)).count("ok") == 1


async def test_a_token_that_is_over_is_refreshed_too(house: House, maria):
    """Waiting for it, not with the old one."""
    window = await house.seated()
    house.clock.passes(601)

    answers = await at_once(*(window.gets(PATH) for _ in range(5)))

    assert {each.status for each in answers} == {200}
    assert refreshes(house).count("ok") == 1


async def test_before_that_nothing_is_refreshed(house: House, maria):
    window = await house.seated()
    house.clock.passes(530)

    await window.gets(PATH)

    assert refreshes(house) == []


async def test_a_refresh_that_is_refused_ends_the_session(house: House, store: Store, maria):
    """Else the page says signed in while every call fails."""
    window = await house.seated()
    house.clock.passes(541)
    (session,) = await store.identity.sessions.of(maria.id, house.clock.now())
    await store.identity.sessions.end(session.id, house.clock.now(), "by_test", None)

    answer = await window.gets(PATH)

    assert answer.verdict == (401, "SESSION_REQUIRED")
    assert refreshes(house) == ["invalid_grant"]
    assert (await Window(house, window.cookie).looks())["authenticated"] is False
    assert await store.identity.panels.of(maria.id) == []


async def test_a_store_that_is_silent_is_borne_while_the_token_lives(
    house: House, maria, monkeypatch: pytest.MonkeyPatch
):
    """Then 503, and no session is lost by it."""
    window = await house.seated()
    sessions = type(house.door.store.identity.sessions)

    async def silent(*_arguments: object) -> None:
        raise StoreUnavailable

    house.clock.passes(541)
    with monkeypatch.context() as patched:
        patched.setattr(sessions, "refresh_token", silent)
        borne = await window.gets(PATH)
        house.clock.passes(60)
        away = await window.gets(PATH)
    house.clock.passes(16)
    back = await window.gets(PATH)

    assert borne.status == 200
    assert away.verdict == (503, "SVC.SYS.002")
    assert back.status == 200


async def test_a_caller_that_goes_away_takes_no_refresh_with_it(house: House, maria):
    """The pair is kept for the next call."""
    window = await house.seated()
    house.clock.passes(601)
    gone = asyncio.create_task(window.gets(PATH))
    await asyncio.sleep(0.005)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)

    assert (await window.gets(PATH)).status == 200
    assert refreshes(house).count("ok") == 1
