"""
Signing in with the company in a real browser, at a provider of others, from another site.

The panel is at ``localhost``, the provider at ``127.0.0.1``: two sites, so that no cookie of the
panel that is SameSite=Strict comes along with whoever comes back.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from gateway.config.identity import Identity
from gateway.config.settings import Events
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.single_sign_on.model import NewIdentityProvider, RoleValue
from gateway.single_sign_on.service import IdentityProviders
from tests.browser import panel_site
from tests.browser.inspection import Inspection, inspecting
from tests.browser.people import PASSWORD
from tests.servers.oidc_provider import providing
from tests.servers.process import free_port
from tests.world.gateway.world import World, opened
from tests.world.people import CLI
from tests.world.waiting import until

DOMAIN = "loja.example.com"
SECRET = "of a test alone"
ON_DUTY = f"plantao@{DOMAIN}"
_AN_HOUR = 3_600.0


@dataclass(slots=True)
class Company:
    """
    A company whose people sign in at oidc-provider.

    Attributes:
        running: The provider; closing it is its outage.
    """

    world: World
    origin: str
    folder: Path
    wanted: dict[str, Any]
    running: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def provider(self) -> str:
        return f"http://127.0.0.1:{self.wanted['port']}"

    async def start(self) -> None:
        await self.running.enter_async_context(providing(self.folder, self.wanted))

    async def fall(self) -> None:
        await self.running.aclose()

    def passes(self, seconds: float) -> None:
        """Let time pass for what is kept of providers."""
        issuers = self.world.gateway.services.sign_on.issuers
        clock = issuers.clock
        issuers.clock = lambda: clock() + seconds


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def company(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Company]:
    """Both by the machine's own clock, which the provider has."""
    folder = tmp_path_factory.mktemp("company")
    wanted = panel_site.settings(folder, events=Events(allow_local=True))
    origin = f"http://localhost:{wanted.server.port}"
    wanted = msgspec.structs.replace(wanted, identity=Identity(origin=origin))
    async with opened(wanted, {}) as world:
        made = Company(world, origin, tmp_path_factory.mktemp("provider"), at_port(free_port()))
        await set_up(made)
        await made.start()
        yield made
        await made.fall()


def at_port(port: int) -> dict[str, Any]:
    people = {
        "ana": ["pix-operators"],
        "bia": ["pix-viewers"],
        "caio": ["cooks"],
    }
    accounts = {
        name: {
            "email": f"{name}@{DOMAIN}",
            "email_verified": True,
            "name": name.title(),
            "groups": groups,
        }
        for name, groups in people.items()
    }
    return {"port": port, "client": "pixgate", "secret": SECRET, "accounts": accounts}


async def set_up(made: Company) -> None:
    world, office = made.world, made.world.office
    company_id = str(world.demo["companies"]["main"]["id"])
    sign_on = world.gateway.services.sign_on
    made.wanted["redirect"] = sign_on.callback(company_id)
    made.wanted["logout"] = sign_on.logout_address(company_id)
    order = InvitationBody(
        email=ON_DUTY, name="Plantão", roles=[Role.VIEWER], companies=[company_id]
    )
    await world.gateway.services.identity.users.create(CLI, order, PASSWORD)
    wanted = NewIdentityProvider(
        short_name="loja",
        domains=(DOMAIN,),
        issuer=made.provider,
        client_id="pixgate",
        client_secret=SECRET,
        scopes=("groups",),
        claim="groups",
        mapping=(
            RoleValue("pix-operators", Role.OPERATOR),
            RoleValue("pix-viewers", Role.VIEWER),
        ),
        break_glass=(ON_DUTY,),
    )
    await office.service(IdentityProviders).set(office.staff, company_id, wanted)


async def leave(tab: Inspection, name: str, to: str = "/panel/payouts") -> None:
    """Go to the provider of the company from the page of the sign-in."""
    await tab.page.goto(f"{tab.origin}/panel/login?next={to}")
    await tab.page.get_by_role("link", name="Entrar com a empresa").click()
    await tab.page.locator("#company").fill(f"{name}@{DOMAIN}")
    await tab.page.get_by_role("button", name="Continuar").click()


async def sign_in(tab: Inspection, company: Company, name: str) -> None:
    await leave(tab, name)
    await at_provider(tab.page, company, name)


async def at_provider(page: Page, company: Company, name: str, *, consents: bool = True) -> None:
    await page.wait_for_url(f"{company.provider}/interaction/**")
    await page.locator("input[name=login]").fill(name)
    await page.locator("input[name=password]").fill("any")
    await page.locator("button[type=submit]").click()
    if consents:
        await page.get_by_role("button", name="Continue").click()


async def session_of(page: Page, origin: str) -> Any:
    cookies = {each["name"]: each for each in await page.context.cookies(origin)}
    assert "pixgate-company-dev" not in cookies
    return cookies["pixgate-dev"]


async def test_a_person_signs_in_at_the_provider_and_comes_back_to_the_page_that_was_wanted(
    browser: Browser, company: Company
):
    async with inspecting(browser, company.origin) as tab:
        await sign_in(tab, company, "bia")

        await tab.page.wait_for_url(f"{company.origin}/panel/payouts")
        await expect(tab.page.locator("body")).to_contain_text("Bia")
        assert (await session_of(tab.page, company.origin))["sameSite"] == "Strict"


async def test_a_person_without_a_role_sees_that_it_is_missing(browser: Browser, company: Company):
    async with inspecting(browser, company.origin) as tab:
        await sign_in(tab, company, "caio")

        await expect(tab.page.locator("#problem")).to_contain_text("nenhum papel")
        await tab.page.goto(f"{company.origin}/panel")
        await tab.page.wait_for_url("**/panel/login**")


async def test_a_role_that_changes_things_sets_up_a_second_factor_first(
    browser: Browser, company: Company
):
    """A sign-in that the provider dates stands for the password, which there is none of."""
    async with inspecting(browser, company.origin) as tab:
        await sign_in(tab, company, "ana")

        await tab.page.wait_for_url(f"{company.origin}/panel/factor**")
        await tab.page.get_by_role("button", name="Continuar").click()
        await expect(tab.page.locator("#problem")).to_contain_text("mais uma vez")
        await tab.page.get_by_role("button", name="Entrar com a empresa mais uma vez").click()
        await at_provider(tab.page, company, "ana", consents=False)
        await tab.page.wait_for_url(f"{company.origin}/panel/factor**")
        await tab.page.get_by_role("button", name="Continuar").click()

        await expect(tab.page.locator("img[src^='data:image/svg']")).to_be_visible()


async def test_the_pages_on_the_way_have_no_fault(browser: Browser, company: Company):
    async with inspecting(browser, company.origin) as tab:
        await tab.page.goto(f"{company.origin}/panel/login/company")
        assert await tab.look() == []


async def test_a_new_signing_key_of_the_provider_is_taken(browser: Browser, company: Company):
    async with inspecting(browser, company.origin) as tab:
        await sign_in(tab, company, "bia")
        await tab.page.wait_for_url(f"{company.origin}/panel/payouts")
        await company.fall()
        await company.start()
        company.passes(61)
        await tab.page.context.clear_cookies()

        await sign_in(tab, company, "bia")

        await tab.page.wait_for_url(f"{company.origin}/panel/payouts")


async def test_signing_out_at_the_provider_ends_the_session_here(
    browser: Browser, company: Company
):
    async with inspecting(browser, company.origin) as tab:
        await sign_in(tab, company, "bia")
        await tab.page.wait_for_url(f"{company.origin}/panel/payouts")

        await tab.page.goto(f"{company.provider}/session/end")
        await tab.page.get_by_role("button", name=re.compile("yes", re.IGNORECASE)).click()
        await tab.page.wait_for_url("**/session/end/success**")

        async def is_out() -> bool:
            await tab.page.goto(f"{company.origin}/panel/payouts")
            return "/panel/login" in tab.page.url

        await until(is_out)


async def test_an_outage_is_said_plainly_and_the_named_people_still_sign_in(
    browser: Browser, company: Company
):
    async with inspecting(browser, company.origin) as tab:
        await company.fall()
        company.passes(_AN_HOUR)
        await leave(tab, "bia")

        await expect(tab.page.locator("#problem")).to_contain_text("não responde agora")

        await tab.page.goto(f"{company.origin}/panel/login")
        await tab.page.locator("#email").fill(ON_DUTY)
        await tab.page.locator("#password").fill(PASSWORD)
        await tab.page.locator("form[action='/panel/login'] button").click()
        await tab.page.wait_for_url(f"{company.origin}/panel")
        await company.start()
