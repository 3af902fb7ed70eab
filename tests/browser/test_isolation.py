"""Data of one company is hidden from users of another: in addresses, searches, counts and files."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest_asyncio

from gateway.core.rights import Role
from gateway.http.panel.pages.surface import NAME
from gateway.http.panel.pages.visit import Visit
from gateway.http.route import Route
from tests.browser import seeds
from tests.browser.forms import stored
from tests.browser.panel_site import PanelSite
from tests.browser.screens import NOT_FOUND, SCREENS
from tests.browser.walking import TOKEN, Seen, Visitor, visiting, walk
from tests.world.surfaces import surface_named

SURFACE = surface_named(NAME)
ROUTES = tuple(route for gate in SURFACE.gates for route in gate.routes)
OF_NOBODY = frozenset({"provider", "session_id"})
"""What belongs to no company: a bank is everybody's, a session its person's."""

BEFORE_THE_SIGN_IN = frozenset({"panel_pages.sign_in_company_back"})
"""Names a company, and shows nothing of it: its provider sends people there."""
OF_A_COMPANY = tuple(
    route
    for route in ROUTES
    if set(re.findall(r"\{(\w+)\}", route.path)) - OF_NOBODY
    and route.name not in BEFORE_THE_SIGN_IN
)
FILES = tuple(route for route in ROUTES if "text/html" not in route.media and "{" not in route.path)
RECEIVED = "/panel/received/export"
"""A file of one account, which the address names behind its path."""
BADGE = re.compile(r'data-count="(\w+)"')
TAX_NUMBER = "529.982.247-25"


def named(site: PanelSite, route: Route[Visit]) -> str:
    known = {
        "account_id": site.seeds["main"],
        "company_id": site.seeds["company"],
        "reference": site.seeds["open_charge" if "/charges/" in route.path else "paid"],
        "key_id": site.seeds["key"],
        "e2e_id": site.seeds["payment"],
        "client_id": site.seeds["credential"],
        "user_id": site.seeds["person"],
        "approval_id": site.seeds["approval"],
        "batch_id": site.seeds["file"],
        "endpoint_id": site.seeds["endpoint"],
        "delivery_id": site.seeds["delivery"],
        "trace_id": site.seeds["trace"],
        "stop_id": site.seeds["stop"],
        **dict.fromkeys(("public_key_id", "passkey_id", "chat_id", "subscription_id"), "unknown"),
        "scope": "company",
        "subject": site.seeds["company"],
    }
    asks = "?format=csv" if route.name.endswith("statement_export") else ""
    return SURFACE.prefix + route.path.format_map(known) + asks


async def who_sees(site: PanelSite, company: str) -> Mapping[str, str]:
    """Return the cookies of a user with every right, limited to one company."""
    person = await site.people.make(*Role, companies=frozenset({company}))
    return await site.people.sign_in(person)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def outside(site: PanelSite) -> Mapping[str, str]:
    return await who_sees(site, site.seeds["nothing"])


async def test_every_address_of_another_company_is_404(site: PanelSite, outside: Mapping[str, str]):
    """Pages, files and forms: the user has every right, but for another company."""
    async with visiting(site, outside) as outsider:
        token = await outsider.token("/panel")
        before = await stored(site)
        found = {}
        for route in OF_A_COMPANY:
            if route.method == "GET":
                said = await outsider.open(named(site, route))
            else:
                said = await outsider.send(named(site, route), {TOKEN: token})
            found[route.name] = said.status
        export = await outsider.open(f"{RECEIVED}?account_id={site.seeds['main']}")
        found["received_export"] = export.status

        after = await stored(site)
    assert {name: status for name, status in found.items() if status != NOT_FOUND} == {}
    assert after == before


async def test_a_search_finds_nothing_of_another_company(
    site: PanelSite, outside: Mapping[str, str]
):
    names = ("paid", "lost", "in_review", "main", "credential", "trace", "payment")
    wrong = {}
    async with (
        visiting(site, await site.people.cookies_of(Role.ADMIN)) as insider,
        visiting(site, outside) as outsider,
    ):
        for text in (TAX_NUMBER, *(site.seeds[name] for name in names)):
            there = await search(insider, text)
            said = await search(outsider, text)
            if said.location:
                said = await outsider.open(said.location)
            is_there = there.location or site.seeds["main"] in there.text
            is_hidden = f"/accounts/{site.seeds['main']}" not in said.text
            if not (is_there or text == site.seeds["payment"]):
                wrong[text] = "its own people do not find it"
            elif (said.status, said.location, is_hidden) != (200, "", True):
                wrong[text] = "others find it"

    assert wrong == {}


async def search(visitor: Visitor, text: str) -> Seen:
    token = await visitor.token("/panel")
    return await visitor.send("/panel/search", {TOKEN: token, "q": text})


async def test_no_page_count_or_file_holds_anything_of_another_company(site: PanelSite):
    """Every page and file of another company's user, requested without an id of ours."""
    world = site.world
    main = world.demo["companies"]["main"]["id"]
    accounts = [each["id"] for name, each in world.demo["accounts"].items() if "other" not in name]
    roles = [name for name in world.demo["credentials"] if name != "other_company"]
    clients = [world.pair(name)["client_id"] for name in roles]
    theirs = {main, *accounts, *clients, seeds.PAID, seeds.LOST, seeds.IN_REVIEW}
    theirs |= {site.seeds[name] for name in ("approval", "trace", "open_charge", "payment", "key")}
    starts = [each.path for each in SCREENS if "{" not in each.path and "q=" not in each.path]
    company = world.demo["companies"]["other"]["id"]
    own = world.demo["accounts"]["other_company"]["id"]
    files = {SURFACE.prefix + route.path for route in FILES} - {RECEIVED}
    async with visiting(site, await who_sees(site, company)) as outsider:
        pages = await walk(outsider, starts)
        pages += [await outsider.open(each) for each in (*files, f"{RECEIVED}?account_id={own}")]

    assert {each.path for each in pages if each.status != 200} == set()
    held = {page.path: [name for name in theirs if name in page.text] for page in pages}
    assert {path: names for path, names in held.items() if names} == {}


async def test_a_user_without_data_sees_no_count(site: PanelSite, outside: Mapping[str, str]):
    async with visiting(site, await site.people.cookies_of(Role.ADMIN)) as insider:
        theirs = await insider.open("/panel")
    async with visiting(site, outside) as outsider:
        said = await outsider.open("/panel")

    assert BADGE.findall(theirs.text) != []
    assert BADGE.findall(said.text) == []


def test_the_isolation_tests_cover_known_routes():
    """Otherwise the tests above would prove nothing."""
    assert len(OF_A_COMPANY) > 30
    assert FILES != ()
