"""The request quota of a signed-in user, over a socket: shared by all their sessions."""

from __future__ import annotations

from gateway.core.limits import CallRate
from tests.world.gateway.identity_api import api_client_on

SCARCE = CallRate(rate=0.001, burst=3)


async def test_signing_out_works_above_the_quota(store, clock):
    async with api_client_on(store, clock, person=SCARCE) as api_client:
        await api_client.identity_world.person()
        token = (await api_client.sign_in())["access_token"]
        page = await api_client.signed_in_browser()
        said = [await page.get("/panel/auth/sessions") for _ in range(4)]

        left = await api_client.ask("DELETE", "/iam/v1/auth/logout", token=token)
        gone = await page.post("/panel/auth/logout")

    assert [each.status for each in said] == [200, 200, 200, 429]
    assert (left.status, gone.status) == (204, 204)


async def test_a_foreign_page_cannot_use_up_a_user_s_quota(store, clock):
    """Requests refused for their origin are not counted."""
    async with api_client_on(store, clock, person=SCARCE) as api_client:
        await api_client.identity_world.person()
        page = await api_client.signed_in_browser()

        foreign = [
            await page.get("/panel/auth/sessions", **{"Sec-Fetch-Site": "cross-site"})
            for _ in range(5)
        ]
        forged = [
            await page.post("/panel/auth/sessions", method="DELETE", **{"X-CSRF-Token": "made up"})
            for _ in range(5)
        ]
        own = await page.get("/panel/auth/sessions")

    assert {each.verdict for each in (*foreign, *forged)} == {(403, "CSRF_FAILED")}
    assert own.status == 200
