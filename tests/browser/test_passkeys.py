"""Passkeys in a real browser with a virtual authenticator, and an approval on a telephone."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pyotp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from gateway.config.identity import Identity
from gateway.core.rights import Role
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from tests.browser import panel_site
from tests.browser.inspection import NARROW, Inspection, Look, inspecting
from tests.browser.panel_site import PanelSite
from tests.browser.people import PASSWORD, Person
from tests.world.authenticator import Authenticator
from tests.world.identity import HOME
from tests.world.passkeys import register, used

TELEPHONE = Look(width=NARROW)
AMOUNT = re.compile(r"\d[\d.]*,\d\d")
MOST_TOUCHES = 4
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PanelSite]:
    """A gateway at ``localhost``: browsers use no passkeys at an IP address."""
    wanted = panel_site.settings(tmp_path_factory.mktemp("passkeys"))
    identity = Identity(origin=f"http://localhost:{wanted.server.port}")
    async with panel_site.serving(msgspec.structs.replace(wanted, identity=identity)) as made:
        yield made


@asynccontextmanager
async def telephone(browser: Browser, house: PanelSite) -> AsyncIterator[Inspection]:
    """A tab as wide as a telephone, whose fingerprint reader always sees its owner."""
    origin = house.world.gateway.kernel.settings.origin
    async with inspecting(browser, origin, TELEPHONE) as tab:
        devtools = await tab.page.context.new_cdp_session(tab.page)
        await devtools.send("WebAuthn.enable")
        await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        yield tab


async def sign_in(page: Page, origin: str, person: Person) -> None:
    await page.goto(f"{origin}/panel/login")
    await page.locator("#email").fill(person.email)
    await page.locator("#password").fill(PASSWORD)
    await page.locator("form[action='/panel/login'] button").click()
    await page.wait_for_url(lambda url: not url.endswith("/login"))


async def own_account(tab: Inspection) -> None:
    await tab.page.goto(f"{tab.origin}/panel/me")


async def with_passkey(tab: Inspection, house: PanelSite, role: Role) -> Person:
    """Create a user, who signs in by the password and registers a passkey."""
    person = await house.people.plain(role)
    await sign_in(tab.page, tab.origin, person)
    await own_account(tab)
    section = tab.page.locator("section[aria-labelledby=passkeys]")
    await section.locator("summary").click()
    await section.locator("#passkey-name").fill("Telefone")
    await section.locator("#passkey-password").fill(PASSWORD)
    await section.locator("button[data-creates]").click()
    await expect(tab.page.locator("#codes li")).to_have_count(10)
    return person


async def test_a_passkey_is_registered_and_signs_in_alone(browser: Browser, house: PanelSite):
    async with telephone(browser, house) as tab:
        await with_passkey(tab, house, Role.VIEWER)
        await own_account(tab)
        await expect(tab.page.locator("section[aria-labelledby=passkeys] li")).to_contain_text(
            "Telefone"
        )
        listed = await tab.look()
        await tab.page.context.clear_cookies()
        await tab.page.goto(f"{tab.origin}/panel/login?next=/panel/payouts")
        door = await tab.look()

        await tab.page.locator("form[action='/panel/login/passkey'] button").click()

        await tab.page.wait_for_url("**/panel/payouts")
        assert listed == door == tab.findings == []


async def test_after_the_password_a_passkey_stands_for_the_code(browser: Browser, house: PanelSite):
    async with telephone(browser, house) as tab:
        person = await with_passkey(tab, house, Role.VIEWER)
        await tab.page.context.clear_cookies()
        await sign_in(tab.page, tab.origin, person)

        await tab.page.locator("form[action='/panel/login/passkey'] button").click()

        await tab.page.wait_for_url("**/panel")
        assert tab.findings == []


async def test_a_payout_is_approved_on_a_telephone_in_few_touches(
    browser: Browser, house: PanelSite
):
    """From the link of a message: the link, the passkey, the finger, the button; and the amount."""
    async with telephone(browser, house) as tab:
        await with_passkey(tab, house, Role.APPROVER)
        await tab.page.context.clear_cookies()
        order, page = f"/panel/approvals/{house.seeds['payout_order']}", tab.page

        touches = 1
        await page.goto(tab.origin + order)
        touches += 2
        await page.locator("form[action='/panel/login/passkey'] button").click()
        await page.wait_for_url(f"**{order}")
        assert await tab.look() == []
        await expect(page.locator(".odd")).to_contain_text("titular da chave")
        shown = AMOUNT.search(await page.locator("#value-why").inner_text())
        assert shown is not None
        await page.locator("#value").fill(shown[0])
        touches += 1
        await page.locator("form[action$='/approve'] button").click()

        await expect(page.locator("form[action$='/approve']")).to_have_count(0)
        await expect(page.locator("[aria-labelledby=decide]")).to_contain_text("Approver")
        assert touches <= MOST_TOUCHES
        assert tab.findings == []


async def test_the_button_of_an_approval_asks_for_the_passkey(browser: Browser, house: PanelSite):
    """Where the second factor is old: no page with a field for a code comes between."""
    async with telephone(browser, house) as tab:
        await with_passkey(tab, house, Role.APPROVER)
        page = tab.page
        await page.goto(f"{tab.origin}/panel/approvals/{house.seeds['approval']}")

        await page.locator("form[action$='/approve'] button").click()

        await expect(page.locator("form[action$='/approve']")).to_have_count(0)
        await expect(page.locator("[aria-labelledby=decide]")).to_contain_text("Approver")
        assert tab.findings == []


async def test_recovery_codes_are_renewed_by_the_passkey_alone(browser: Browser, house: PanelSite):
    async with telephone(browser, house) as tab:
        await with_passkey(tab, house, Role.VIEWER)
        await own_account(tab)
        form = tab.page.locator("details:has(form[action='/panel/me/recovery-codes'])")
        await form.locator("summary").click()

        await form.locator("button").click()

        await expect(tab.page.locator("#codes li")).to_have_count(10)
        assert tab.findings == []


async def test_a_user_with_a_passkey_alone_is_asked_for_no_password(
    browser: Browser, house: PanelSite
):
    """Beside a passkey, without an app, the password proves nothing."""
    async with telephone(browser, house) as tab:
        await with_passkey(tab, house, Role.VIEWER)
        await own_account(tab)
        await expect(tab.page.locator("#passkey-name")).to_have_count(1)
        await expect(tab.page.locator("#passkey-password")).to_have_count(0)
        await tab.page.goto(f"{tab.origin}/panel/factor")
        await expect(tab.page.locator("form.enrol [type=password]")).to_have_count(0)
        shown = await tab.look()

        await tab.page.locator("form.enrol [data-passkey]").click()

        await expect(tab.page.locator("#app_code")).to_be_visible()
        assert shown == tab.findings == []


async def with_both(house: PanelSite) -> Person:
    """Create a user with a passkey and an app."""
    person = await house.people.plain(Role.VIEWER)
    services = house.world.gateway.services.identity
    authenticator = Authenticator(origin=house.world.gateway.kernel.settings.origin)
    came = await services.sign_in.login(person.email, PASSWORD, HOME)
    assert isinstance(came, SignedIn)
    await register(services, came.person, authenticator)
    proof = await used(services, came.person, authenticator)
    begun = await services.second_factors.begin(came.person, Proof(passkey=proof), HOME)
    code = pyotp.TOTP(begun.secret).at(house.world.gateway.kernel.now())
    person.recovery += await services.second_factors.confirm(came.person, code)
    return person


async def test_without_the_passkey_the_password_is_required_again(
    browser: Browser, house: PanelSite
):
    """Whether another field is empty, or the browser gives no passkey."""
    person = await with_both(house)
    async with telephone(browser, house) as tab:
        page = tab.page
        await sign_in(page, tab.origin, person)
        await page.locator("#code").fill(person.code())
        await page.locator("form[action='/panel/login/code'] button").click()
        await page.wait_for_url("**/panel")
        await own_account(tab)
        await page.route("**/panel/auth/passkeys/options", lambda route: route.abort())
        form, required = page.locator("form[action='/panel/me/password']"), "each => each.required"
        fields = form.locator("[data-or-passkey]")

        await form.locator("[data-passkey]").click()
        after_an_empty_field = [await each.evaluate(required) for each in await fields.all()]
        for field in ("#new", "#again"):
            await page.locator(field).fill("uma outra frase bem comprida")
        await form.locator("[data-passkey]").click()
        await expect(form.locator("[data-passkey-failed]")).to_be_visible()

        assert after_an_empty_field == [True, True]
        assert [await each.evaluate(required) for each in await fields.all()] == [True, True]


async def test_removing_the_only_passkey_of_who_may_write_becomes_an_order(
    browser: Browser, house: PanelSite
):
    async with telephone(browser, house) as tab:
        await with_passkey(tab, house, Role.OPERATOR)
        await own_account(tab)
        listed = tab.page.locator("section[aria-labelledby=passkeys] li")
        await listed.locator("summary").click()

        await listed.locator("[data-passkey]").click()

        await tab.page.wait_for_url("**/panel/approvals/*")
        await expect(tab.page.locator("h1")).to_have_text("Remoção do último segundo fator")
        assert await tab.look() == []


async def test_without_a_script_a_code_stands_for_the_passkey(browser: Browser, house: PanelSite):
    """A recovery code here, of a user without an app."""
    person = await house.people.plain(Role.ADMIN)
    services = house.world.gateway.services.identity
    origin = house.world.gateway.kernel.settings.origin
    came = await services.sign_in.login(person.email, PASSWORD, HOME)
    assert isinstance(came, SignedIn)
    codes = [*await register(services, came.person, Authenticator(origin=origin))]
    async with inspecting(browser, origin, TELEPHONE, java_script_enabled=False) as tab:
        page = tab.page
        await sign_in(page, origin, person)
        await expect(page.locator("[data-passkey]")).to_be_hidden()
        await page.locator("#code").fill(codes.pop())
        await page.locator("form[action='/panel/login/code'] button").click()
        await page.wait_for_url("**/panel")
        await house.people.age_factor(person)
        form = page.locator("form[action='/panel/companies']")
        await page.goto(f"{origin}/panel/companies")
        await form.locator("#name").fill("Padaria Nova")
        await form.locator("button.btn-1").click()
        await expect(page.locator("[data-passkey]")).to_be_hidden()
        await form.locator("#code").fill(codes.pop())
        await form.locator("button.btn-1:visible").click()

        await expect(page.locator("main")).to_contain_text("Padaria Nova")
        await expect(page.locator("#code")).to_have_count(0)
