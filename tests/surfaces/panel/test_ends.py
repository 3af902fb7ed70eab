"""When a browser's session ends by itself, and how its cookie is renewed."""

from __future__ import annotations

from gateway.store.engine import Store
from tests.surfaces.house import House, Window, at_once


async def test_fifteen_minutes_without_a_call_end_it(house: House, store: Store, maria):
    """With its sign-in: no token of it lives on."""
    window = await house.seated()
    house.clock.passes(899)
    kept = await window.gets("/panel/auth/sessions")
    house.clock.passes(900)

    ended = await window.gets("/panel/auth/sessions")

    assert kept.status == 200
    assert ended.verdict == (401, "SESSION_REQUIRED")
    assert await store.identity.sessions.of(maria.id, house.clock.now()) == []
    assert ("session_event", "idle_end") in house.counted


async def test_asking_for_the_session_keeps_nobody_awake(house: House, maria):
    """A page that is open and asks every minute is idle all the same."""
    window = await house.seated()

    for _ in range(14):
        house.clock.passes(60)
        assert (await window.looks())["authenticated"]
    house.clock.passes(60)

    assert (await window.looks())["authenticated"] is False


async def test_eight_hours_end_it_however_busy(house: House, maria):
    """Refreshing and renewing do not move the end."""
    window = await house.seated()
    end = (await window.looks())["expires_at"]

    while house.clock.now().timestamp() + 600 < end:
        house.clock.passes(600)
        assert (await window.gets("/panel/auth/sessions")).status == 200
    assert (await window.looks())["expires_at"] == end
    house.clock.passes(600)

    assert (await window.gets("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")
    assert ("session_event", "absolute_end") in house.counted


async def test_a_cookie_is_renewed_every_hour(house: House, maria):
    """What was sent with the old one at the same time is served; half a minute later not."""
    window = await house.seated()
    for _ in range(6):
        house.clock.passes(600)
        old, csrf = window.cookie, window.csrf
        await window.gets("/panel/auth/sessions")

    assert window.cookie != old
    late = Window(house, old, csrf)
    assert (await late.gets("/panel/auth/sessions")).status == 200
    assert (await late.looks())["authenticated"] is True
    assert late.cookie == old
    house.clock.passes(31)
    assert (await late.gets("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")
    assert (await window.gets("/panel/auth/sessions")).status == 200
    assert (await window.looks())["csrf_token"] == csrf


async def test_of_calls_at_once_one_renews_the_cookie(house: House, maria):
    window = await house.seated()
    for _ in range(5):
        house.clock.passes(600)
        await window.gets("/panel/auth/sessions")
    house.clock.passes(600)

    pages = [Window(house, window.cookie, window.csrf) for _ in range(20)]
    answers = await at_once(*(page.gets("/panel/auth/sessions") for page in pages))

    assert {each.status for each in answers} == {200}
    assert len({page.cookie for page in pages}) == 2
    assert house.counted.count(("session_event", "rotated")) == 1


async def test_an_anonymous_cookie_lasts_a_quarter_of_an_hour(house: House):
    window = await house.window()
    cookie = window.cookie
    house.clock.passes(899)
    await window.looks()
    kept = window.cookie
    house.clock.passes(1)

    await window.looks()

    assert kept == cookie
    assert window.cookie != cookie
