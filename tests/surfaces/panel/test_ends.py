"""When a browser's session ends by itself, and how its cookie is renewed."""

from __future__ import annotations

from tests.world.gateway.identity_api import ApiClient, BrowserClient

BY_TIMER = {"X-Asked-By": "timer"}


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
