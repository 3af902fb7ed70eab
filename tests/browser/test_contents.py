"""What partners and banks chose is shown as text, and what is secret is shown to nobody."""

from __future__ import annotations

import re

import pytest
import pytest_asyncio

from gateway.domain.identity.rights import Role
from tests.browser import seeds
from tests.browser.contents import INVISIBLE, UNSEEN
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS
from tests.browser.walking import Seen, visiting, walk

CPF = re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}")
EXAMPLES = ("/panel/reference", "/panel/errors", "/panel/sandbox")
"""Pages of documentation: the people in them are made up."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages(site: PanelSite) -> list[Seen]:
    """Every page that an administrator or an operator gets to."""
    found: dict[str, Seen] = {}
    for role in (Role.ADMIN, Role.OPERATOR, Role.SECURITY):
        starts = [each.at(site.seeds) for each in SCREENS]
        async with visiting(site, await site.people.cookies_of(role)) as visitor:
            found |= {f"{role} {page.path}": page for page in await walk(visitor, starts)}
    return list(found.values())


def showing(pages: list[Seen], text: str) -> list[str]:
    """Return the pages that hold a text."""
    return [page.path for page in pages if text in page.text]


async def test_markup_of_others_stays_text(pages: list[Seen]):
    assert showing(pages, "<script>alert") == []
    assert showing(pages, seeds.HOSTILE) == []


async def test_nothing_in_a_page_turns_or_hides_text(pages: list[Seen]):
    """An override of direction makes one reference look like another."""
    found = {page.path: INVISIBLE.findall(UNSEEN.sub("", page.text)) for page in pages}

    assert {path: signs for path, signs in found.items() if signs} == {}


async def test_secrets_appear_in_no_page(site: PanelSite, pages: list[Seen]):
    demo = site.world.demo
    secrets = [pair["client_secret"] for pair in demo["credentials"].values()]
    for person in demo["users"].values():
        secrets += [person["password"], person.get("totp_secret", person["password"])]
    for cookies in site.people.cookies.values():
        secrets += cookies.values()

    assert {
        secret[:6]: showing(pages, secret) for secret in secrets if showing(pages, secret)
    } == {}
    assert showing(pages, "eyJ") == []


async def test_no_page_shows_the_cpf_or_the_key_of_a_person(pages: list[Seen]):
    shown = [page for page in pages if not page.path.startswith(EXAMPLES)]

    assert showing(shown, "52998224725") == []
    assert showing(shown, "maria@example.com") == []
    assert [page.path for page in shown if CPF.search(page.text)] == []


@pytest.mark.parametrize("path", ["//evil.example", "https://evil.example", "/\\evil.example"])
async def test_no_way_leads_elsewhere(site: PanelSite, path: str):
    """After signing in, after a choice of language, and from a link of a mail."""
    async with visiting(site, await site.people.cookies_of(Role.ADMIN)) as visitor:
        token = await visitor.token("/panel")
        chosen = await visitor.send(
            "/panel/preferences", {"csrf_token": token, "language": "en", "back": path}
        )
        entered = await visitor.open(f"/panel/login?next={path}")

    assert (chosen.status, chosen.location) == (303, "/panel")
    assert (entered.status, entered.location) == (303, "/panel")
