"""When a browser's session ends by itself, and how its cookie is renewed."""

from __future__ import annotations

from gateway.app.store import Store
from tests.world.gateway.identity_api import ApiClient, BrowserClient, at_once

BY_TIMER = {"X-Asked-By": "timer"}


async def test_fifteen_minutes_without_a_call_end_it(api_client: ApiClient, store: Store, maria):
    """With its sign-in: no token of it lives on."""
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(899)
    kept = await browser.get("/panel/auth/sessions")
    api_client.clock.passes(900)

    ended = await browser.get("/panel/auth/sessions")

    assert kept.status == 200
    assert ended.verdict == (401, "SESSION_REQUIRED")
    assert await store.identity.sessions.of(maria.id, api_client.clock.now()) == []
    assert ("session_event", "idle_end") in api_client.counted


async def test_asking_for_the_session_keeps_nobody_awake(api_client: ApiClient, maria):
    """A page that is open and asks every minute is idle all the same."""
    browser = await api_client.signed_in_browser()

    for _ in range(14):
        api_client.clock.passes(60)
        assert (await browser.load_session())["authenticated"]
    api_client.clock.passes(60)

    assert (await browser.load_session())["authenticated"] is False


async def test_eight_hours_end_it_however_busy(api_client: ApiClient, maria):
    """Refreshing and renewing do not move the end."""
    browser = await api_client.signed_in_browser()
    end = (await browser.load_session())["expires_at"]

    while api_client.clock.now().timestamp() + 600 < end:
        api_client.clock.passes(600)
        assert (await browser.get("/panel/auth/sessions")).status == 200
    assert (await browser.load_session())["expires_at"] == end
    api_client.clock.passes(600)

    assert (await browser.get("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")
    assert ("session_event", "absolute_end") in api_client.counted


async def test_a_cookie_is_renewed_every_hour(api_client: ApiClient, maria):
    """
    For half a minute the old one is served, and gives the new one; then it is void.

    What was sent at the same time goes on, and the answer with the new one may be lost.
    """
    browser = await api_client.signed_in_browser()
    for _ in range(6):
        api_client.clock.passes(600)
        old, csrf = browser.cookie, browser.csrf
        await browser.get("/panel/auth/sessions")

    assert browser.cookie != old
    late = BrowserClient(api_client, old, csrf)
    assert (await late.load_session())["authenticated"] is True
    assert late.cookie == old
    assert (await late.get("/panel/auth/sessions")).status == 200
    assert (late.cookie, late.csrf) == (browser.cookie, csrf)
    api_client.clock.passes(31)
    void = BrowserClient(api_client, old, csrf)
    assert (await void.get("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")
    assert (await browser.get("/panel/auth/sessions")).status == 200
    assert (await browser.load_session())["csrf_token"] == csrf


async def test_of_calls_at_once_one_renews_the_cookie(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()
    for _ in range(5):
        api_client.clock.passes(600)
        await browser.get("/panel/auth/sessions")
    api_client.clock.passes(600)

    pages = [BrowserClient(api_client, browser.cookie, browser.csrf) for _ in range(20)]
    answers = await at_once(*(page.get("/panel/auth/sessions") for page in pages))

    assert {each.status for each in answers} == {200}
    assert len({page.cookie for page in pages}) == 2
    assert api_client.counted.count(("session_event", "rotated")) == 1


async def test_an_anonymous_cookie_lasts_a_quarter_of_an_hour(api_client: ApiClient):
    browser = await api_client.open_browser()
    cookie = browser.cookie
    api_client.clock.passes(899)
    await browser.load_session()
    kept = browser.cookie
    api_client.clock.passes(1)

    await browser.load_session()

    assert kept == cookie
    assert browser.cookie != cookie


async def test_what_a_timer_asks_for_keeps_nobody_awake(api_client: ApiClient, maria):
    """Whatever it reads; the cookie stays, too, until somebody acts."""
    browser = await api_client.signed_in_browser()
    cookie = browser.cookie

    for _ in range(14):
        api_client.clock.passes(60)
        assert (await browser.get("/panel/auth/sessions", **BY_TIMER)).status == 200
    kept = browser.cookie
    api_client.clock.passes(60)

    assert (await browser.get("/panel/auth/sessions", **BY_TIMER)).verdict == (
        401,
        "SESSION_REQUIRED",
    )
    assert kept == cookie
    assert ("session_event", "idle_end") in api_client.counted


async def test_a_person_who_acts_beside_a_timer_stays(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()

    for number in range(30):
        api_client.clock.passes(60)
        headers = {} if number % 10 == 9 else BY_TIMER
        assert (await browser.get("/panel/auth/sessions", **headers)).status == 200
