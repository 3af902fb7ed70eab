"""When a browser's session ends by itself."""

from __future__ import annotations

from tests.world.gateway.identity_api import ApiClient

BY_TIMER = {"X-Asked-By": "timer"}


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
