"""How often somebody who signed in may ask, over a socket: one quota for all their ways in."""

from __future__ import annotations

from tests.surfaces.house import Rate, house_on
from tests.unit.door import EMAIL

SCARCE = Rate(rate=0.001, burst=3)
SESSIONS = "/iam/v1/auth/sessions"
OTHERS = "joao@example.com"


async def test_who_asks_too_often_waits_by_token_and_by_cookie_alike(store, clock):
    """And says until when; somebody else goes on."""
    async with house_on(store, clock, person=SCARCE) as house:
        await house.door.person()
        await house.door.person(OTHERS)
        token = (await house.signs_in(EMAIL))["access_token"]
        other = (await house.signs_in(OTHERS))["access_token"]
        page = await house.seated(EMAIL)

        good = [await house.ask("GET", SESSIONS, token=token) for _ in range(2)]
        good.append(await page.gets("/panel/auth/sessions"))
        waits = [
            await house.ask("GET", SESSIONS, token=token),
            await page.gets("/panel/auth/sessions"),
            await page.gets("/panel/api/accounts"),
            await page.posts("/panel/api/companies", {"name": "Padaria"}),
        ]
        others = await house.ask("GET", SESSIONS, token=other)

    assert [each.status for each in (*good, others)] == [200] * 4
    assert [each.headers["RateLimit"] for each in good] == [
        f'"person";r={left};t=1000' for left in (2, 1, 0)
    ]
    assert {each.verdict for each in waits} == {(429, "SVC.GTW.005")}
    for each in waits:
        assert each.headers["RateLimit-Policy"] == '"person";q=3;w=3000'
        assert 990 <= int(each.headers["Retry-After"]) <= 1000


async def test_whoever_has_asked_too_often_can_still_leave(store, clock):
    async with house_on(store, clock, person=SCARCE) as house:
        await house.door.person()
        token = (await house.signs_in())["access_token"]
        page = await house.seated()
        said = [await page.gets("/panel/auth/sessions") for _ in range(4)]

        left = await house.ask("DELETE", "/iam/v1/auth/logout", token=token)
        gone = await page.posts("/panel/auth/logout")

    assert [each.status for each in said] == [200, 200, 200, 429]
    assert (left.status, gone.status) == (204, 204)


async def test_no_foreign_page_uses_somebody_s_quota_up(store, clock):
    """What is refused for where it comes from is not counted."""
    async with house_on(store, clock, person=SCARCE) as house:
        await house.door.person()
        page = await house.seated()

        foreign = [
            await page.gets("/panel/auth/sessions", **{"Sec-Fetch-Site": "cross-site"})
            for _ in range(5)
        ]
        forged = [
            await page.posts("/panel/auth/sessions", method="DELETE", **{"X-CSRF-Token": "made up"})
            for _ in range(5)
        ]
        own = await page.gets("/panel/auth/sessions")

    assert {each.verdict for each in (*foreign, *forged)} == {(403, "CSRF_FAILED")}
    assert own.status == 200
