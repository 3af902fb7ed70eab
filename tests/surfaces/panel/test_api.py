"""The back office behind the cookie, on the whole gateway with its bank."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from tests.surfaces.panel.api import Page
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.identity_api import COOKIE, check
from tests.world.gateway.world import World, basic

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def viewer(world: World) -> Page:
    page = Page(world)
    await page.sign_in("viewer@panel.example")
    return page


async def test_a_page_reads_what_the_back_office_reads(world: World, viewer: Page):
    """The same row, over the same bank; the answer sets no cookie and is kept by nobody."""
    account = world.demo["accounts"]["main"]["id"]

    balance = await viewer.ask("GET", f"/panel/api/accounts/{account}/balance")
    accounts = await viewer.ask("GET", "/panel/api/accounts")

    check(balance, "GET")
    assert set(balance.document) == {"balance", "blocked", "updated_at"}
    assert account in accounts.body.decode()
    assert "Set-Cookie" not in balance.headers
    assert balance.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("headers", "verdict"),
    [
        ({"X-Requested-With": ""}, (403, "CSRF_FAILED")),
        ({"Sec-Fetch-Site": "cross-site"}, (403, "CSRF_FAILED")),
        ({"Sec-Fetch-Site": "", "Origin": "https://evil.example"}, (403, "CSRF_FAILED")),
        ({"Cookie": ""}, (401, "SESSION_REQUIRED")),
        ({"Cookie": f"{COOKIE}=made.up"}, (401, "SESSION_REQUIRED")),
    ],
    ids=str,
)
async def test_a_read_is_guarded(viewer: Page, headers: dict[str, str], verdict: tuple[int, str]):
    answer = await viewer.ask("GET", "/panel/api/accounts", **headers)

    check(answer, "GET")
    assert answer.verdict == verdict


async def test_no_other_credential_opens_it(world: World):
    """Neither an access token nor a partner's secret; scripts get JSON, never a redirect."""
    body = {"email": "viewer@panel.example", "password": PASSWORD}
    said = await Page(world).ask("POST", "/iam/v1/auth/login", body)

    for authorization in (
        f"Bearer {said.document['access_token']}",
        basic(world.pair("full")),
    ):
        answer = await Page(world).ask("GET", "/panel/api/accounts", Authorization=authorization)
        check(answer, "GET")
        assert answer.verdict == (401, "SESSION_REQUIRED")


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "X-Forwarded-User", "X_Forwarded_User", "X-GW-User", "X-GW-Roles"),
        *("X-Real-IP", "X-Forwarded-For", "X-Original-URL", "X-Forwarded-Uri", "Connection"),
    ],
)
async def test_what_a_browser_sends_beside_its_cookie_decides_nothing(viewer: Page, name: str):
    """There is nobody it could be passed on to."""
    plain = await viewer.ask("GET", "/panel/api/users")

    answer = await viewer.ask("GET", "/panel/api/users", **{name: "admin@panel.example"})

    assert answer.verdict == plain.verdict == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    "path",
    [
        "/panel/api",
        "/panel/api/",
        "/panel/api/info",
        "/panel/api//accounts",
        "/panel/api/accounts/",
        "/panel/api/../../backoffice/v1/accounts",
        "/panel/api/%2e%2e/accounts",
        "/panel/api/iam/v1/auth/sessions",
        "/panel/api/baas/v1/info",
        "/panel/api/http://evil.example/accounts",
    ],
)
async def test_what_the_list_does_not_name_is_not_there(viewer: Page, path: str):
    """No catch-all, no destination of the caller's choosing."""
    answer = await viewer.ask("GET", path)

    assert answer.verdict == (404, "SVC.GTW.001")


async def test_roles_decide_as_they_do_on_the_back_office(world: World, viewer: Page):
    stop = {"scope": "everything", "reason": "test"}

    write = await viewer.ask("POST", "/panel/api/stops", stop)
    forged = await viewer.ask("POST", "/panel/api/stops", stop, **{"X-CSRF-Token": "made up"})

    assert write.verdict == (403, "FORBIDDEN")
    assert forged.verdict == (403, "CSRF_FAILED")


async def test_what_is_dangerous_asks_for_a_fresh_code(world: World):
    """Without a factor it is not open at all; with one, for five minutes."""
    page = Page(world)
    await page.sign_in("admin@panel.example")
    order = {
        "company_id": world.demo["companies"]["main"]["id"],
        "name": "made by a page",
        "permissions": ["balance:read"],
    }

    without = await page.ask("POST", "/panel/api/credentials", order)
    await page.enrol("admin@panel.example")
    issued = await page.ask("POST", "/panel/api/credentials", order)

    assert without.verdict == (403, "STEP_UP_REQUIRED")
    assert issued.status in {200, 201}, issued.body
    assert issued.document["client_secret"].startswith("gws_")


async def test_a_session_that_is_ended_elsewhere_is_over_here(world: World):
    page = Page(world)
    await page.sign_in("operator@panel.example")
    users = world.gateway.rooms.identity.services.users
    await asyncio.sleep(0.01)

    await users.end_sessions("test", "operator@panel.example")

    answer = await page.ask("GET", "/panel/api/accounts")
    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_twenty_calls_of_a_page_at_once_are_served(viewer: Page):
    answers: list[Any] = await asyncio.gather(
        *(viewer.ask("GET", "/panel/api/accounts") for _ in range(20))
    )

    assert {each.status for each in answers} == {200}
