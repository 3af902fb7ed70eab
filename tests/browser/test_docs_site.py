"""The documentation site as the gateway serves it: links, languages, search, no other host."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from html.parser import HTMLParser
from posixpath import normpath
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from gateway.app.commands.catalogue import EVERY_CODE
from gateway.config.listeners import Server
from gateway.reference.site import FOLDER, HOME, read_site
from tests.browser.inspection import NARROW, Look, inspecting
from tests.servers.demand import absent
from tests.world.gateway.world import opened, sandbox

PAGES = {
    "en": ("", "partner-guide/", "errors/", "errors/SVC.PIX.010/", "reference/banking/", "panel/"),
    "pt-BR": ("pt/", "pt/partner-guide/", "pt/errors/"),
}
TOLERATED = "axe: landmark-unique: #__code_"
"""The theme's: each block of code has an unnamed landmark with the button that copies it."""
LOOKS = [Look(language="en"), Look(language="pt-BR", theme="dark", width=NARROW)]


@pytest.fixture(scope="module")
def files() -> Mapping[str, bytes]:
    """Every file of the site by its path."""
    if not FOLDER.is_dir():
        absent("site", "no documentation site: run `make docs-site`")
    return {
        path: file.reply("").body or b""
        for path, file in read_site().items()
        if path.startswith(HOME)
    }


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def origin(
    files: Mapping[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[str]:
    server = Server(port=0, docs=True, drain_accept_s=0)
    async with opened(sandbox(tmp_path_factory.mktemp("site"), server=server)) as world:
        yield f"http://127.0.0.1:{world.port}"


class Links(HTMLParser):
    """The addresses that a page names, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.anchors.add(named.get("id") or "")
        if tag == "a" and named.get("href"):
            self.leads.append(named["href"] or "")
        elif tag in {"img", "link", "script"}:
            self.loads.append(named.get("src") or named.get("href") or "")


def test_every_link_of_every_page_leads_to_a_page_and_an_anchor(files: Mapping[str, bytes]):
    """Also between languages, which MkDocs does not see; and no page loads anything elsewhere."""
    pages = {path: Links(body.decode()) for path, body in files.items() if path.endswith("/")}
    served_elsewhere = ("/docs/api", "/openapi.json")
    broken = []
    for path, page in pages.items():
        for link in (*page.leads, *page.loads):
            address = urlsplit(urljoin(path, link))
            if address.scheme in {"http", "https", "mailto"}:
                broken += [f"{path} loads {link}"] if link in page.loads else []
                continue
            if address.path in served_elsewhere:
                continue
            target = pages.get(address.path)
            anchor = unquote(address.fragment)
            if address.path not in files or (anchor and target and anchor not in target.anchors):
                broken.append(f"{path}: {link}")

    assert broken == []
    assert HOME in pages


def test_every_code_has_a_page_as_html_and_as_markdown(files: Mapping[str, bytes]):
    places = {f"{HOME}errors/{each.code}{form}" for each in EVERY_CODE for form in ("/", ".md")}

    assert places - set(files) == set()


def test_every_markdown_page_links_pages_that_are_markdown(files: Mapping[str, bytes]):
    broken = [
        f"{path}: {link}"
        for path, body in files.items()
        if path.endswith(".md")
        for link in re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", unfenced(body.decode()))
        if normpath(urljoin(path, link)) not in files
    ]

    assert broken == []


def unfenced(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def test_the_index_for_programs_lists_pages_that_are_served(files: Mapping[str, bytes]):
    listed = re.findall(r"\]\((/[^)]+)\)", files["/docs/llms.txt"].decode())

    assert len(listed) > 30
    assert [each for each in listed if each not in files] == []


@pytest.mark.parametrize("look", LOOKS, ids=str)
async def test_the_pages_load_nothing_elsewhere_and_are_accessible(
    browser: Browser, origin: str, look: Look
):
    async with inspecting(browser, origin, look) as tab:
        for page in PAGES[look.language]:
            await tab.open(HOME + page)
            await tab.look()

            language = "pt" if page.startswith("pt/") else "en"
            await expect(tab.page.locator("html")).to_have_attribute("lang", re.compile(language))

    assert [each for each in tab.findings if not each.startswith(TOLERATED)] == []


@pytest.mark.parametrize("start", ["", "pt/"])
async def test_the_search_finds_an_error_code(browser: Browser, origin: str, start: str):
    async with inspecting(browser, origin, Look(language="en")) as tab:
        await tab.open(HOME + start)
        await tab.page.locator(".md-search__input").fill("SVC.PIX.010")
        first = tab.page.locator('.md-search-result__link[href*="errors/SVC.PIX.010/"]').first
        await first.click()

        await expect(tab.page.locator("h1")).to_contain_text("SVC.PIX.010")

    assert tab.findings == []


async def test_an_unknown_page_is_one_of_the_site_that_leads_back(browser: Browser, origin: str):
    async with inspecting(browser, origin, Look(language="en")) as tab:
        answer = await tab.page.goto(f"{origin}{HOME}errors/SVC.ABC.999/")
        assert answer is not None
        await tab.look()
        await tab.page.locator('article a[href="/docs/errors/"]').click()

        await expect(tab.page.locator("h1")).to_contain_text("Error codes")

    assert answer.status == 404
    assert [each for each in tab.findings if "404" not in each] == []


async def test_the_language_is_changed_on_the_same_page(browser: Browser, origin: str):
    async with inspecting(browser, origin, Look(language="en")) as tab:
        await tab.open(f"{HOME}partner-guide/")
        link = tab.page.locator('.md-select__link[hreflang^="pt"]')
        await tab.page.goto(urljoin(tab.page.url, await link.get_attribute("href") or ""))

        await expect(tab.page.locator("h1")).to_contain_text("Guia do parceiro")
