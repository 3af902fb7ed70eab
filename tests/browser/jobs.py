"""The jobs that a back office does every day, each in as few clicks as its pages allow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

import aiohttp
from playwright.async_api import Browser, Locator, Page, expect

from gateway.batches.reading import TEMPLATE
from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.core.audit import AuditEvent
from gateway.core.rights import Role
from gateway.http.panel.pages.formats import ZONE
from gateway.store.tables.core import payouts
from provider_adapters.testing.demo.ensure import Pair
from tests.browser.inspection import Inspection
from tests.browser.panel_site import PanelSite
from tests.world.gateway.world import World, order

ORDERS: Final = "operator"
DECIDES: Final = "approver"
SECOND: Final = "second approver"
ADMIN: Final = "admin"
SITTING: Final[Mapping[str, tuple[Role, ...]]] = {
    ORDERS: (Role.OPERATOR, Role.SECURITY),
    DECIDES: (Role.APPROVER,),
    SECOND: (Role.APPROVER,),
    ADMIN: (Role.ADMIN,),
}
Job = Callable[["Office"], Awaitable[None]]
DAY: Final = timedelta(days=1)
WORD: Final = "bloquear"
FRIDAY: Final = 4
PAYEE: Final = "529.982.247-25"
YESTERDAY: Final = "folha-09"
PAID: Final = "52,11"
FAILED: Final = {"folha-07": 777.02, "folha-08": 777.03}
"""Payouts of yesterday, by the amounts that the sandbox fails."""


@dataclass(kw_only=True)
class Hand:
    """
    Works in one tab and counts: a click and a filled or chosen field are one each.

    Elements are named by selectors of addresses and fields, which no change of words moves.
    """

    tab: Inspection
    count: int = 0

    @property
    def page(self) -> Page:
        return self.tab.page

    def at(self, selector: str) -> Locator:
        return self.page.locator(selector)

    async def begin(self) -> None:
        await self.page.goto(f"{self.tab.origin}/panel")
        self.count = 0

    async def click(self, *selectors: str) -> None:
        """Click one element after the other."""
        for selector in selectors:
            self.count += 1
            await self.at(selector).click()

    async def fill(self, fields: Mapping[str, str]) -> None:
        for selector, value in fields.items():
            self.count += 1
            await self.at(selector).fill(value)

    async def choose(self, selector: str, value: str) -> None:
        self.count += 1
        await self.at(selector).select_option(value)

    async def menu(self, path: str) -> None:
        await self.click(f"#side a[href='/panel{path}']")
        await self.page.wait_for_url(f"**/panel{path}")

    async def search(self, text: str) -> None:
        """Fill in the field of the top bar; Enter is no click."""
        await self.fill({"#q": text})
        await self.at("#q").press("Enter")


@dataclass(frozen=True, kw_only=True)
class Office:
    """
    Four people at their browsers.

    Attributes:
        hands: By who they are (``SITTING``).
    """

    site: PanelSite
    hands: Mapping[str, Hand]

    @property
    def account(self) -> str:
        return f"/panel/accounts/{self.site.seeds['main']}"

    @property
    def yesterday(self) -> str:
        return f"{_now(self.site.world) - DAY:%d/%m/%Y}"

    @property
    def friday(self) -> str:
        """The last Friday before today, as a person types it."""
        return f"{_friday(self.site.world):%d/%m/%Y}"

    async def approve(self, about: str, value: str = "") -> None:
        """Let the approver find an order in the menu and approve it, with its amount."""
        hand = self.hands[DECIDES]
        await hand.menu("/approvals")
        await hand.click(f"tr:has-text('{about}') a.to")
        if value:
            await hand.fill({"#value": value})
        await hand.click("form[action$='/approve'] button")
        await expect(hand.at("form[action$='/approve']")).to_have_count(0)


@asynccontextmanager
async def sitting(browser: Browser, site: PanelSite) -> AsyncIterator[Office]:
    """Sit everybody down, signed in with a code given just now."""
    async with AsyncExitStack() as stack:
        hands = {}
        for who, roles in SITTING.items():
            cookies = await site.people.sign_in(await site.people.make(*roles))
            hands[who] = Hand(tab=await stack.enter_async_context(site.tab(browser, cookies)))
        yield Office(site=site, hands=hands)


async def plant(world: World) -> None:
    """Let payouts fail, settle one yesterday, and add acts of last Friday."""
    kernel = world.gateway.kernel
    await world.control.post("clock", body={"offset_s": -DAY.total_seconds()})
    for reference, value in {**FAILED, YESTERDAY: float(PAID.replace(",", "."))}.items():
        await world.pay(order(reference, world.today(), value=value))
        await world.settled(reference)
    await world.control.post("clock", body={"offset_s": 0})
    earlier = {"created_at": kernel.now() - DAY, "updated_at": kernel.now() - DAY}
    ours = payouts.c.reference.like("folha-%")
    async with kernel.store.database.writing() as connection:
        await connection.execute(payouts.update().where(ours).values(earlier))
    friday = _friday(world)
    company = Company(str(uuid4()), "Padaria da Sexta Ltda", friday, "")
    event = AuditEvent(
        at=friday,
        actor="user:bruno@example.com",
        action="company.created",
        subject=f"company:{company.id}",
    )
    await add_company(kernel.store.database, company, event)


def _now(world: World) -> datetime:
    return world.gateway.kernel.now().astimezone(ZONE)


def _friday(world: World) -> datetime:
    """Return an instant of the last Friday before today."""
    now = _now(world)
    return now - ((now.weekday() - FRIDAY) % 7 or 7) * DAY


async def money_that_did_not_arrive(office: Office) -> None:
    """Find a payout of which only the amount and the day are known."""
    hand = office.hands[ORDERS]
    await hand.search(f"{PAID} ontem")
    await hand.click(f"main a.to[href$='/{YESTERDAY}']")
    await expect(hand.at("h1")).to_contain_text(PAID)


async def failures_of_yesterday(office: Office) -> None:
    """Find yesterday's failures, read why, and export them."""
    hand = office.hands[ORDERS]
    await hand.menu("/payouts")
    await hand.choose("#days", "yesterday")
    await expect(hand.at("#list tbody")).to_contain_text(YESTERDAY)
    await expect(hand.at("#list tbody tr")).to_have_count(len(FAILED) + 1)
    await hand.click(".tabs a[href*='tab=failed']")
    await expect(hand.at("#list tbody tr")).to_have_count(len(FAILED))
    await expect(hand.at("#list .wide-only .cert.bad")).to_have_count(len(FAILED))
    await expect(hand.at("#csv[href*='tab=failed']")).to_be_visible()
    async with hand.page.expect_download() as download:
        await hand.click("#csv")
    saved = (await (await download.value).path()).read_text(encoding="utf-8-sig")
    assert {each for each in (*FAILED, YESTERDAY) if each in saved} == set(FAILED)


async def one_company_stopped(office: Office) -> None:
    hand = office.hands[ORDERS]
    await hand.menu("/companies")
    await hand.click(f"a[href*='/stops/new'][href$='{office.site.seeds['nothing']}']")
    await hand.fill({"#reason": "suspeita de fraude", "#words": WORD})
    await hand.click("form[action$='/stops/new'] footer button")
    await hand.page.wait_for_url("**/panel/stops")
    await expect(hand.at("td:has-text('suspeita de fraude')")).to_be_visible()


async def everything_stopped(office: Office) -> None:
    """Stop every payout of the platform now; lifting the stop is not counted."""
    hand = office.hands[ORDERS]
    await hand.menu("/stops")
    await hand.click("a[href*='scope=everything']")
    await hand.fill({"#reason": "incidente", "#words": "bloquear tudo"})
    await _stopped(hand, "incidente")


async def a_bank_s_payouts_stopped(office: Office) -> None:
    """Stop all payouts of a bank from the page of its incident; lifting the stop is not counted."""
    hand = office.hands[ORDERS]
    await a_bank_down(office)
    await hand.click("a[href*='scope=provider']")
    await hand.fill({"#reason": "banco fora do ar", "#words": "sandbox"})
    await _stopped(hand, "banco fora do ar")


async def _stopped(hand: Hand, reason: str) -> None:
    """Send the form of a stop, and lift the stop again."""
    await hand.click("form[action$='/stops/new'] footer button")
    await hand.page.wait_for_url("**/panel/stops")
    await hand.at(f"tr:has-text('{reason}') a[href$='/lift']").click()
    await hand.at("form[action$='/lift'] footer button").click()
    await expect(hand.at("[aria-labelledby=over]")).to_contain_text(reason)


async def a_received_pix_refunded(office: Office) -> None:
    """Give a received payment back in part; another person approves."""
    await office.approve(await _refund(office), "15,40")


async def a_file_of_payouts_paid(office: Office) -> None:
    """Pay two people from a file; another person approves both at once."""
    hand = office.hands[ORDERS]
    await hand.menu("/batches")
    await hand.click("a[href='/panel/batches/new']")
    await hand.choose("#account", office.site.seeds["main"])
    hand.count += 1
    sheet = {"name": "folha.csv", "mimeType": "text/csv", "buffer": TEMPLATE}
    await hand.at("#file").set_input_files([sheet])  # type: ignore[list-item]
    await hand.click("form[action$='/batches/new'] footer button")
    await expect(hand.at("h1")).to_contain_text("folha.csv")
    await hand.click("form[action$='/order'] button")
    await hand.page.wait_for_url("**/panel/approvals/**")
    await office.approve("folha.csv", "2.214,56")
    decides = office.hands[DECIDES]
    await decides.page.locator("a[href*='/panel/batches/']").first.click()
    await expect(decides.at("#batch")).to_contain_text("2.214,56")
    await expect(decides.at("[aria-labelledby=rows]")).to_contain_text("folha-2026-11")


async def an_own_order_withdrawn(office: Office) -> None:
    """Withdraw an own order before its decision; ordering it is not counted."""
    hand = office.hands[ORDERS]
    reference = await _refund(office)
    await hand.begin()
    await hand.menu("/approvals")
    await hand.click(f"tr:has-text('{reference}') a.to")
    await hand.fill({"#reason": "valor errado"})
    await hand.click("form[action$='/withdraw'] button")
    await expect(hand.at("form[action$='/withdraw']")).to_have_count(0)
    await expect(hand.at("main")).to_contain_text("valor errado")


async def an_own_order_corrected(office: Office) -> None:
    """Correct the amount before the order is sent; typing it first is not counted."""
    hand = office.hands[ORDERS]
    await hand.page.goto(f"{office.site.origin}/panel/payouts/new")
    await hand.choose("#account", office.site.seeds["main"])
    await hand.choose("#kind", "cpf")
    await hand.fill({"#key": PAYEE, "#value": "9,10", "#reference": "corrigido"})
    await hand.click("form[action$='/payouts/new'] footer button[type=submit]")
    await expect(hand.at("main .amount")).to_contain_text("9,10")
    hand.count = 0
    await hand.click("button[form=correct]")
    await hand.fill({"#value": "9,01"})
    await hand.click("form[action$='/payouts/new'] footer button[type=submit]")
    await expect(hand.at("main .amount")).to_contain_text("9,01")
    await hand.click("form:has([name=step][value=send]) footer button[type=submit]")
    await hand.page.wait_for_url("**/panel/approvals/**")
    await expect(hand.at("h1")).to_contain_text("9,01")


async def _refund(office: Office) -> str:
    """Order a refund; return the reference that the form made."""
    hand, payment = office.hands[ORDERS], office.site.seeds["payment"]
    await hand.menu("/received")
    await hand.choose("#account", office.site.seeds["main"])
    await hand.click(f"#list a[href*='{payment}/refund']")
    await hand.fill({"#value": "15,40", "#description": "troca"})
    reference = await hand.at("#reference").input_value()
    await hand.click("form[action$='/refund'] button.btn-bad")
    await hand.page.wait_for_url("**/panel/approvals/**")
    return reference


async def a_secret_rotated(office: Office) -> None:
    """Make a new secret while the old one holds; another person approves."""
    hand, world = office.hands[ORDERS], office.site.world
    old = world.pair("full")
    await hand.menu("/credentials")
    await hand.click(f"a.to[href$='{old['client_id']}']", "a[href$='/rotate']")
    await hand.click("form[action$='/rotate'] button")
    await hand.page.wait_for_url("**/panel/approvals/**")
    await office.approve(old["client_id"])

    await hand.page.reload()
    await hand.click("form[action$='/secret'] button")
    new = Pair(client_id=old["client_id"], client_secret=await hand.at("#sec").inner_text())
    await hand.click("[name=stored]", "#done")
    await hand.page.wait_for_url("**/panel/credentials")
    for pair in (old, new):
        assert (await world.ask("GET", world.at("/balance"), pair=pair)).status == 200


async def acts_of_last_friday(office: Office) -> None:
    """Read the acts of last Friday."""
    hand = office.hands[ORDERS]
    await hand.menu("/audit")
    await hand.fill({"#f-init": office.friday, "#f-ends": office.friday})
    await hand.click("main .filters button")
    await expect(hand.at("#list tbody tr")).to_have_count(1)
    await expect(hand.at("#list tbody tr")).to_contain_text("Bruno Teles")


async def acts_of_a_person(office: Office) -> None:
    """Read the acts of a person, found by name."""
    hand = office.hands[ORDERS]
    await hand.menu("/audit")
    await hand.fill({"#f-actor": "bruno teles"})
    await hand.click("main .filters button")
    await expect(hand.at("#list tbody tr")).to_have_count(1)
    await expect(hand.at("#list tbody tr")).to_contain_text("Bruno Teles")


async def a_bank_down(office: Office) -> None:
    """Read which accounts a bank's incident hits, and how much of each."""
    hand = office.hands[ORDERS]
    await hand.click("[aria-labelledby=sky] a[href$='/providers/sandbox']", "a[href$='/incident']")
    await hand.page.wait_for_url("**/incident")
    row = hand.at(f"[aria-labelledby=accounts] tr:has(a[href='{office.account}'])")
    await expect(row).to_contain_text("777,12")
    await expect(hand.at(".tiles")).to_contain_text("777,12")


async def a_day_closed(office: Office) -> None:
    """Compare yesterday's book with the bank's statement; one person signs, another one locks."""
    for who, form in ((DECIDES, "sign"), (SECOND, "lock")):
        hand = office.hands[who]
        await hand.menu("/accounts")
        await hand.click(f"a[href='{office.account}/closing']")
        await expect(hand.at("#list tbody")).to_contain_text(YESTERDAY)
        await hand.click(f"form[action$='/{form}'] button")
        await expect(hand.at("form[action$='/sign'], form[action$='/lock']")).to_have_count(0)
    await expect(office.hands[SECOND].at("[aria-labelledby=latest] .b.ok")).to_have_count(1)


async def a_client_with_an_account(office: Office) -> None:
    """Add a company, and an account of it at a bank, ready to be used."""
    hand = office.hands[ADMIN]
    await hand.menu("/companies")
    await hand.fill({"#name": "Cliente Novo Ltda"})
    await hand.click("form[action='/panel/companies'] button", "a[href$='/new-account']")
    await hand.fill({"#number": "11.222.333/0001-81"})
    await hand.choose("#provider", "sandbox")
    await hand.fill({"#there": "cliente-novo", "#credentials": "token"})
    await hand.click("[name=verified]", "[name=active]")
    await hand.click("form[action$='/new-account'] footer button")
    await hand.page.wait_for_url("**/panel/accounts/*")
    await expect(hand.at(".head .b.ok")).to_have_count(1)


async def a_colleague_in(office: Office) -> None:
    """Invite a user with write access; another person approves."""
    hand = office.hands[ORDERS]
    await hand.menu("/people")
    await hand.fill({"#email": "nova@example.com", "#name": "Nova Colega"})
    await hand.click("[name=role][value=operator]", "[name=company][value=every]")
    await hand.click("form[action$='/people'] button")
    await hand.page.wait_for_url("**/panel/approvals/**")
    await office.approve("nova@example.com")


async def a_colleague_out(office: Office) -> None:
    """Disable a user; their next click is refused."""
    hand, site = office.hands[ORDERS], office.site
    leaver = await site.people.make(Role.OPERATOR)
    cookies = await site.people.sign_in(leaver)
    await hand.search(leaver.email)
    await hand.page.wait_for_url(f"**/people/{leaver.id}")
    await hand.fill({"#reason": "saiu da empresa"})
    await hand.click("#disable-now")
    await expect(hand.at("#disable-now")).to_have_count(0)
    async with aiohttp.ClientSession(cookies=cookies) as browser:
        url = f"{site.origin}/panel/payouts"
        async with browser.get(url, allow_redirects=False) as said:
            assert said.headers["Location"].startswith("/panel/login")


async def a_payout_by_its_end_to_end_id(office: Office) -> None:
    """Find a payout by the id that every bank has for it: it opens itself."""
    paid = await office.site.world.settled(YESTERDAY)
    hand = office.hands[ORDERS]
    await hand.search(paid["e2e_id"])
    await hand.page.wait_for_url(f"**/payouts/{YESTERDAY}")


async def a_payment_by_its_end_to_end_id(office: Office) -> None:
    """Find a received payment by its id: the charge that it paid opens itself."""
    hand, payment = office.hands[ORDERS], office.site.seeds["payment"]
    await hand.search(payment)
    await hand.page.wait_for_url("**/charges/cob-5502")
    await expect(hand.at("main")).to_contain_text(payment)


async def a_refund_by_its_end_to_end_id(office: Office) -> None:
    """Find a refund by its id, at the bank; reading the id by its amount is not counted."""
    hand = office.hands[ORDERS]
    await hand.search("20,00")
    refund = await hand.at("#list [data-copy^=D]").get_attribute("data-copy")
    await hand.begin()
    await hand.search(str(refund))
    await expect(hand.at(f"main tr:has([data-copy='{refund}'])")).to_be_visible()
