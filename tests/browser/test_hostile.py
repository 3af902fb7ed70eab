"""A page shows whatever partners and banks write into any field as plain text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from gateway.core.rights import Role
from tests.browser import hostile, panel_site
from tests.browser.contents import INVISIBLE, UNSEEN
from tests.browser.hostile import HostileAdapter, Order
from tests.browser.inspection import NARROW, Inspection, Look
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS
from tests.browser.walking import visiting
from tests.world.gateway.world import World

TRACE_ID = "t.-_:" + "T" * (hostile.LONGEST_TRACE_ID - 5)
FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
FIGURE = re.compile(r"-[\d.]+,\d\d")
NOT_SHOWN = {
    *(("Charge", name) for name in ("city", "zip_code")),
    *(("Evidence", name) for name in ("provider_code", "reason")),  # ours alone: by a list
    *(("KeyOwner", name) for name in ("account", "bank_number", "branch", "ispb")),
    *(("Entry", name) for name in ("provider_id", "provider_key")),
    *(("Notice", name) for name in ("account", "event", "provider_id", "subject")),
    *(("RegisteredCallback", name) for name in ("id", "url")),
    *(("Refund", name) for name in ("payment_reference", "provider_id", "provider_key")),
    ("Block", "reference"),
    ("IncomingPayment", "provider_id"),
    ("MissedEvent", "id"),
    ("Page", "next_cursor"),
    ("Payer", "message"),
}
"""What banks say and no page shows, by kind and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A page as it was sent, and what the browser found wrong with it."""

    path: str
    sent: str
    findings: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A gateway between hostile partners and a hostile bank."""

    site: PanelSite
    bank: HostileAdapter
    orders: list[Order]

    @property
    def account(self) -> str:
        return f"/panel/accounts/{self.site.seeds['main']}"

    def paths(self) -> list[tuple[str, str]]:
        """Return every screen with its viewer, and the payout of every order."""
        screens = [(each.by, each.at(self.site.seeds)) for each in SCREENS]
        payouts = [
            (Role.ADMIN, f"{self.account}/payouts/{quote(each.reference, safe='')}")
            for each in self.orders
        ]
        charge = self.site.world.demo["charges"]["paid"]
        received = f"/panel/received?account_id={self.site.seeds['main']}&show=refunds&read=1"
        others = [f"{self.account}/charges/{charge}?read=1", received]
        return [*screens, *payouts, *((Role.OPERATOR, each) for each in others)]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    banks: list[HostileAdapter] = []

    async def prepare(world: World) -> None:
        banks.append(await hostile.become_hostile(world))

    wanted = panel_site.settings(tmp_path_factory.mktemp("hostile"))
    async with panel_site.serving(wanted, prepare) as site:
        world = site.world
        orders = await hostile.order_all(world)
        paid = next(each.reference for each in orders if each.place == ("reference",))
        await world.ask("GET", world.at("/balance"), by="none", headers={"X-Trace-ID": TRACE_ID})
        named = {**site.seeds, "paid": quote(paid, safe=""), "trace": TRACE_ID}
        yield Stage(site=replace(site, seeds=named), bank=banks[0], orders=orders)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages(browser: Browser, stage: Stage) -> list[Shown]:
    """Every page as a narrow window shows it, one tab for each role."""
    found = []
    narrow = Look(width=NARROW)
    for role in sorted({by for by, _ in stage.paths()}):
        async with stage.site.tab(browser, await stage.site.people.cookies_of(role), narrow) as tab:
            for path in [path for by, path in stage.paths() if by == role]:
                answer = await tab.open(path)
                sent = await answer.text()  # now: a look may load the page again
                findings = list(await tab.look(deep=False))
                tab.findings.clear()
                found.append(Shown(path=path, sent=sent, findings=findings))
            if role == Role.OPERATOR:
                found.append(await summary(tab, stage))
    return found


async def summary(tab: Inspection, stage: Stage) -> Shown:
    """Look the owner of a key up, whom the bank names."""
    await tab.open("/panel/payouts/new")
    await tab.page.locator("#account").select_option(stage.site.seeds["main"])
    await tab.page.locator("#kind").select_option("email")
    for name, value in (("key", "maria@example.com"), ("number", "529.982.247-25")):
        await tab.page.locator(f"#{name}").fill(value)
    await tab.page.locator("#value").fill("1,23")
    await tab.page.locator("main form button[type=submit]").click()
    await tab.page.locator("[name=step][value=send]").wait_for(state="attached")
    sent = await tab.page.content()
    return Shown(path="summary", sent=sent, findings=list(await tab.look(deep=False)))


async def test_a_page_with_hostile_text_has_no_finding(pages: list[Shown]):
    """No script, dialog, console message or sideways scrolling, and no refused page."""
    assert {page.path: page.findings for page in pages if page.findings} == {}


async def test_hostile_text_is_shown_as_text(pages: list[Shown]):
    markup = re.compile(r"<script>|<img src=x|onerror=alert\(2\)>")

    assert [page.path for page in pages if markup.search(page.sent)] == []


async def test_no_text_reorders_or_hides_other_text(pages: list[Shown]):
    found = {page.path: INVISIBLE.findall(UNSEEN.sub("", page.sent)) for page in pages}

    assert {path: signs for path, signs in found.items() if signs} == {}


async def test_each_text_of_a_partner_is_shown(stage: Stage, pages: list[Shown]):
    """Otherwise the tests above would prove nothing."""
    everything = "".join(page.sent for page in pages)

    assert [each.place for each in stage.orders if each.mark not in everything] == []


async def test_each_bank_text_is_shown_or_listed_as_not_shown(stage: Stage, pages: list[Shown]):
    """Each field of the port is shown here or listed as shown on no page."""
    everything = "".join(page.sent for page in pages)

    shown = {place[1:] for place, mark in stage.bank.marks.items() if mark in everything}
    assert {place[1:] for place in stage.bank.places} - shown == NOT_SHOWN


@pytest.mark.parametrize("form", ["csv", "ofx"])
async def test_an_exported_statement_with_hostile_text_is_safe(stage: Stage, form: str):
    """No cell is a formula, and no element comes from the text."""
    operator = await stage.site.people.cookies_of(Role.OPERATOR)
    async with visiting(stage.site, operator) as visitor:
        said = await visitor.open(f"{stage.account}/statement/export?format={form}")

    assert said.status == 200
    assert "bank" in said.text
    if form == "ofx":
        assert ("<script>" in said.text, "<img" in said.text) == (False, False)
    else:
        rows = list(csv.reader(io.StringIO(said.text.lstrip("\ufeff")), delimiter=";"))
        assert [cell for row in rows for cell in row if is_formula(cell)] == []


def is_formula(cell: str) -> bool:
    """Say whether a spreadsheet would reckon with a cell; a figure of ours is none."""
    return bool(FORMULA.match(cell)) and not FIGURE.fullmatch(cell)
