"""The back office behind the cookie, on the whole gateway with its bank."""

from __future__ import annotations

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


FORGED, STRANGER = (403, "CSRF_FAILED"), (401, "SESSION_REQUIRED")


async def test_a_read_is_guarded(world: World, viewer: Page):
    """No other credential opens it; scripts get JSON, never a redirect."""
    body = {"email": "viewer@panel.example", "password": PASSWORD}
    token = (await Page(world).ask("POST", "/iam/v1/auth/login", body)).document["access_token"]
    cases = [
        ({"X-Requested-With": ""}, FORGED),
        ({"Sec-Fetch-Site": "cross-site"}, FORGED),
        ({"Sec-Fetch-Site": "", "Origin": "https://evil.example"}, FORGED),
        ({"Cookie": ""}, STRANGER),
        ({"Cookie": f"{COOKIE}=made.up"}, STRANGER),
        ({"Cookie": "", "Authorization": f"Bearer {token}"}, STRANGER),
        ({"Cookie": "", "Authorization": basic(world.pair("full"))}, STRANGER),
    ]

    answers = [await viewer.ask("GET", "/panel/api/accounts", **headers) for headers, _ in cases]

    for answer in answers:
        check(answer, "GET")
    assert [each.verdict for each in answers] == [verdict for _, verdict in cases]


async def test_other_paths_are_not_served(viewer: Page):
    paths = ("", "/info", "//accounts", "/accounts/", "/%2e%2e/accounts", "/http://evil.example/a")

    answers = [await viewer.ask("GET", f"/panel/api{path}") for path in paths]

    assert {each.verdict for each in answers} == {(404, "SVC.GTW.001")}


async def test_roles_decide_as_they_do_on_the_back_office(viewer: Page):
    stop = {"scope": "everything", "reason": "test"}

    write = await viewer.ask("POST", "/panel/api/stops", stop)
    forged = await viewer.ask("POST", "/panel/api/stops", stop, **{"X-CSRF-Token": "made up"})

    assert write.verdict == (403, "FORBIDDEN")
    assert forged.verdict == (403, "CSRF_FAILED")


async def test_a_weighty_right_requires_a_fresh_code(world: World):
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
