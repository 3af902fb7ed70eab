"""
Pages in use: what our script shortens, forms that were refused, going back.

Secrets leave the page, buttons are guarded, keys, theme and filters work.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, Error, Page, Route, expect

from gateway.core.rights import Role
from tests.browser.inspection import LEAST_WIDTH, LOOKS, NARROW, Look
from tests.browser.panel_site import PanelSite

SECRET = re.compile(r"gws_[\w-]{20,}")
KEYS = """keys => [...keys].forEach(
  key => document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})))"""
NAMES_OF_FILE = ["PIXGATE_CLIENT_ID", "PIXGATE_CLIENT_SECRET"]


async def issue(page: Page, site: PanelSite) -> str:
    """Issue a credential by the form; return its secret as the page shows it."""
    await page.goto(f"{site.origin}/panel/credentials")
    await page.goto(f"{site.origin}/panel/credentials/new")
    await page.fill("#name", "ERP de teste")
    await page.check("input[name=may_balance][value=read]")
    await page.get_by_role("button", name="Emitir").click()
    await expect(page.locator("#sec")).to_have_text(SECRET)
    return await page.locator("#sec").inner_text()


async def test_a_dismissed_secret_is_removed_from_the_page(
    browser: Browser, site: PanelSite, tmp_path: Path
):
    """It is then in no address and no page; going back shows the list."""
    async with site.tab(browser, await site.people.fresh(Role.SECURITY)) as tab:
        page = tab.page
        secret = await issue(page, site)
        done = page.get_by_role("button", name="Concluir")

        for _ in range(3):
            await page.keyboard.press("Escape")
        await expect(page.locator("#sec")).to_be_visible()
        await expect(done).to_be_disabled()
        assert page.url == f"{site.origin}/panel/credentials"
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Baixar").click()
        await (await download.value).save_as(tmp_path / "pixgate.env")
        await page.get_by_label("Guardei o segredo").check()
        await done.click()
        await expect(page.get_by_role("table")).to_be_visible()
        put_away = await page.content()
        await page.go_back()
        await expect(page.locator("h1")).to_be_visible()
        back = await page.content()

        lines = (tmp_path / "pixgate.env").read_text().splitlines()
        assert [each.partition("=")[0] for each in lines] == NAMES_OF_FILE
        assert lines[-1] == f"PIXGATE_CLIENT_SECRET={secret}"
        assert secret not in put_away + back
        assert tab.findings == []


async def test_reloading_sends_no_form_a_second_time(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.fresh(Role.SECURITY)) as tab:
        secret = await issue(tab.page, site)

        await tab.page.reload()

        await expect(tab.page.get_by_role("table")).to_be_visible()
        assert secret not in await tab.page.content()


async def test_a_secret_is_in_one_uncached_answer(browser: Browser, site: PanelSite):
    """Also without a script: neither going back nor the browser's storage reveals it."""
    cookies = await site.people.fresh(Role.SECURITY)
    async with site.tab(browser, cookies, java_script_enabled=False) as tab:
        async with tab.page.expect_response(
            lambda said: said.request.method == "POST" and "credentials" in said.url
        ) as answered:
            secret = await issue(tab.page, site)
        answer = await answered.value
        addresses = [tab.page.url]

        await tab.page.get_by_role("button", name="Concluir").click()
        await expect(tab.page.get_by_role("table")).to_be_visible()
        addresses.append(tab.page.url)
        put_away = await tab.page.content()
        back = ""
        with suppress(Error):  # the browser asks before it sends a form again, and shows nothing
            await tab.page.go_back(timeout=3000)
            back = await tab.page.content()
        kept = str(await tab.page.context.storage_state())

    assert answer.headers["cache-control"] == "no-store"
    assert secret not in put_away + back + kept + "".join(addresses)


async def test_a_destructive_button_is_enabled_by_typing_the_name(
    browser: Browser, site: PanelSite
):
    async with site.tab(browser, await site.people.cookies_of(Role.SECURITY)) as tab:
        await tab.open(f"/panel/credentials/{site.seeds['credential']}/revoke")
        button = tab.page.locator("#revoke")

        await expect(button).to_be_disabled()
        await tab.page.fill("#words", "demo ful")
        await expect(button).to_be_disabled()
        await tab.page.fill("#words", "demo full")
        await expect(button).to_be_enabled()


async def test_a_stop_is_shown_only_for_the_selected_account(browser: Browser, site: PanelSite):
    """Also after returning to the page with another account selected than it was loaded with."""
    main, other = (site.world.demo["accounts"][each]["id"] for each in ("main", "other_company"))
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        await tab.open(f"/panel/payouts/new?account_id={main}")
        box = tab.page.locator(f"[data-of~='{other}']")

        await expect(box).to_be_hidden()
        await tab.page.select_option("#account", other)
        await expect(box).to_be_visible()
        await tab.page.goto(f"{site.origin}/panel/payouts")
        await tab.page.go_back()
        await expect(tab.page.locator("#account")).to_have_value(other)
        await expect(box).to_be_visible()
        await tab.page.select_option("#account", main)
        await expect(box).to_be_hidden()


async def test_a_form_does_not_move_when_the_balance_comes(browser: Browser, site: PanelSite):
    main = site.world.demo["accounts"]["main"]["id"]
    look = Look(width=NARROW)
    answered = asyncio.Event()

    async def late(route: Route) -> None:
        await answered.wait()
        await route.continue_()

    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR), look) as tab:
        await tab.page.route("**/payouts/new/balance*", late)
        await tab.open(f"/panel/payouts/new?account_id={main}")
        key = tab.page.locator("#key")
        before = await key.bounding_box()
        answered.set()
        await expect(tab.page.locator("#balance p").first).to_be_visible()

        assert await key.bounding_box() == before


ORDER = """([name, number]) => {
  const at = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range.getBoundingClientRect();
  };
  name.firstChild.textContent = "مرحبا العربية";
  return at(name).right <= at(number).left;
}"""


async def test_a_right_to_left_name_does_not_move_the_number_beside_it(
    browser: Browser, site: PanelSite
):
    """In a list, where the name is a link; other tests check the templates."""
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        page = tab.page
        await tab.open("/panel/payouts?days=90")
        row = page.locator("#list tbody tr").filter(has=page.locator("th .muted")).first
        name, number = [await row.locator(each).element_handle() for each in ("a.to", "th .muted")]
        listed = await page.evaluate(ORDER, [name, number])

        assert listed


async def test_dialogs_with_and_without_a_form_have_equal_padding(
    browser: Browser, site: PanelSite
):
    inner = (
        "each => [...each.querySelectorAll('.hd, .in')].map(one => getComputedStyle(one).padding)"
    )
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN)) as tab:
        await tab.open("/panel/requests")
        plain, filters = tab.page.locator("#keys"), tab.page.locator("#more")

        await tab.page.get_by_role("button", name="Mais filtros").click()
        await expect(filters).to_be_visible()

        assert await filters.evaluate(inner) == await plain.evaluate(inner)
        assert "0px" not in set(await filters.evaluate(inner))
        foot = "one => getComputedStyle(one.querySelector('.ft')).display"
        assert await filters.evaluate(foot) == "flex"


async def test_two_key_shortcuts_open_pages(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN)) as tab:
        for keys, path in (
            ("gc", "/panel/credentials"),
            ("go", "/panel"),
            ("gr", "/panel/explain"),
        ):
            await tab.open("/panel/people")

            await tab.page.evaluate(KEYS, keys)  # the second within a second, on any machine

            await expect(tab.page).to_have_url(f"{site.origin}{path}")


async def test_keys_move_the_focus_through_rows_and_show_their_list(
    browser: Browser, site: PanelSite
):
    async with site.tab(browser, await site.people.cookies_of(Role.ADMIN)) as tab:
        await tab.open("/panel/people")
        rows = tab.page.locator("a.to")

        await tab.page.keyboard.press("j")
        await tab.page.keyboard.press("j")
        await expect(rows.nth(1)).to_be_focused()
        await tab.page.keyboard.press("k")
        await expect(rows.nth(0)).to_be_focused()
        await tab.page.keyboard.press("?")
        await expect(tab.page.locator("#keys")).to_be_visible()


async def test_shortcut_keys_are_text_inside_a_field(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.SECURITY)) as tab:
        await tab.open("/panel/credentials/new")

        await tab.page.fill("#name", "")
        await tab.page.locator("#name").press_sequentially("gc/?")

        await expect(tab.page.locator("#name")).to_have_value("gc/?")


async def test_the_theme_switches_at_once_and_is_saved(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.VIEWER)) as tab:
        await tab.open("/panel")
        async with tab.page.expect_response("**/panel/preferences"):
            await tab.page.get_by_role("button", name="Trocar o tema").click()
        await expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")

        await tab.page.reload()

        await expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")


async def test_a_filter_updates_the_list_and_the_address(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.SECURITY)) as tab:
        await tab.open("/panel/credentials")

        await tab.page.fill("#f", "demo none")

        await expect(tab.page.locator("a.to")).to_have_count(1)
        await expect(tab.page).to_have_url(re.compile(r"text=demo(\+|%20)none"))
        assert tab.findings == []


async def test_going_back_after_filters_restores_the_list(browser: Browser, site: PanelSite):
    """Without a script error: announcements for screen readers continue."""
    async with site.tab(browser, await site.people.cookies_of(Role.SECURITY)) as tab:
        await tab.open("/panel/credentials")
        for text, count in (("demo none", 1), ("nothing like that", 0)):
            await tab.page.fill("#f", text)
            await expect(tab.page.locator("a.to")).to_have_count(count)
            await expect(tab.page).to_have_url(re.compile(f"text={text[:4]}"))

        await tab.page.go_back()

        await expect(tab.page.locator("a.to")).to_have_count(1)
        await tab.page.go_back()
        await expect(tab.page).to_have_url(re.compile("credentials$"))
        assert tab.findings == []


async def test_a_row_of_the_unresolved_list_opens_by_a_click(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.APPROVER)) as tab:
        await tab.open("/panel/unresolved")

        await tab.page.locator("#list li").first.click(position={"x": 8, "y": 8})

        await expect(tab.page).to_have_url(re.compile("reference="))
        assert tab.findings == []


async def test_a_badge_changes_when_its_time_has_passed(browser: Browser, site: PanelSite):
    """A bank whose pause has ended is no longer on hold, even before the next call."""
    mark = '<b class="b bad" id="m" data-over="pronto">em pausa <i data-until="1"></i></b>'
    async with site.tab(browser, await site.people.cookies_of(Role.APPROVER)) as tab:
        await tab.open("/panel/providers")

        await tab.page.evaluate("mark => document.body.insertAdjacentHTML('beforeend', mark)", mark)

        await expect(tab.page.locator("#m")).to_have_text("pronto")
        await expect(tab.page.locator("#m")).to_have_class("b warn")


async def test_the_selected_tab_is_scrolled_into_view(browser: Browser, site: PanelSite):
    look = Look(language="pt-BR", theme="light", width=NARROW)
    keys = f"/panel/accounts/{site.seeds['main']}/keys"
    async with site.tab(browser, await site.people.fresh(Role.OPERATOR), look) as tab:
        await tab.page.goto(f"{site.origin}{keys}")

        await expect(tab.page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=0.9)
        assert await tab.page.evaluate("scrollY") == 0


async def test_a_short_page_is_as_tall_as_its_window(browser: Browser, site: PanelSite):
    """Announcements for screen readers take no space below it."""
    async with site.tab(browser, await site.people.fresh(Role.OPERATOR)) as tab:
        await tab.page.goto(f"{site.origin}/panel/stay")

        rest = "document.documentElement.scrollHeight - innerHeight"
        assert await tab.page.evaluate(rest) == 0


async def test_a_wrong_field_is_marked_and_described_for_screen_readers(
    browser: Browser, site: PanelSite
):
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR), LOOKS[3]) as tab:
        tab.refused.add(f"{site.origin}/panel/stops/new")
        await tab.open("/panel/stops/new?scope=provider&subject=sandbox")
        await tab.page.fill("#reason", "conferência")
        await tab.page.fill("#words", "sandbo")

        await tab.page.get_by_role("button", name="Bloquear pagamentos").click()

        words = tab.page.locator("#words")
        await expect(words).to_have_attribute("aria-invalid", "true")
        await expect(words).to_have_accessible_description(re.compile("O que foi digitado"))
        await expect(words).to_have_value("sandbo")
        assert await tab.look() == []


async def test_typed_text_is_kept_while_the_page_refreshes(browser: Browser, site: PanelSite):
    """The page of an open charge refreshes itself periodically."""
    charge = site.seeds["open_charge"]
    path = f"/panel/accounts/{site.seeds['main']}/charges/{charge}?read=1"
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        await tab.open(path)
        words, button = tab.page.locator("#words"), tab.page.locator("#cancel-now")

        await tab.page.click("#cancel summary")
        await words.fill(charge[:-1])
        await tab.page.wait_for_selector("#charge[data-htmx-powered]", state="attached")
        for _ in range(2):
            async with tab.page.expect_response(lambda said: "/charges/" in said.url):
                await tab.page.evaluate("document.body.dispatchEvent(new Event('panel:tick'))")

        await expect(words).to_have_value(charge[:-1])
        await expect(button).to_be_disabled()
        await words.press_sequentially(charge[-1])
        await expect(button).to_be_enabled()
        assert tab.findings == []


async def test_the_page_that_requires_a_code_has_no_finding(browser: Browser, site: PanelSite):
    person = await site.people.make(Role.ADMIN)
    cookies = await site.people.sign_in(person)
    await site.people.age_factor(person)
    async with site.tab(browser, cookies) as tab:
        tab.refused.add(f"{site.origin}/panel/companies")
        await tab.open("/panel/companies")
        await tab.page.fill("#name", "Nova Ltda")

        await tab.page.get_by_role("button", name="Incluir a empresa").click()

        await expect(tab.page.get_by_text("Confirme com um código.")).to_be_visible()
        await expect(tab.page.locator("#name")).to_have_value("Nova Ltda")
        await expect(tab.page.locator("#code")).to_be_focused()
        assert await tab.look() == []


async def test_a_refused_form_for_recovery_codes_has_no_finding(browser: Browser, site: PanelSite):
    """The form contains password and app code; the wrong field is marked and typed again."""
    person = await site.people.make(Role.OPERATOR)
    async with site.tab(browser, await site.people.sign_in(person)) as tab:
        tab.refused.add(f"{site.origin}/panel/me/recovery-codes")
        await tab.open("/panel/me")
        await tab.page.click("details:has(#codes-code) summary")
        await tab.page.fill("#codes-password", person.password)
        await tab.page.fill("#codes-code", "000000")

        await tab.page.locator("details:has(#codes-code) button[type=submit]").click()

        code = tab.page.locator("#codes-code")
        await expect(code).to_have_attribute("aria-invalid", "true")
        await expect(code).to_have_value("")
        await expect(tab.page.locator("#codes-password")).to_have_value("")
        assert await tab.look() == []


async def test_going_back_from_a_payout_shows_the_search_results(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.cookies_of(Role.OPERATOR)) as tab:
        await tab.open("/panel")
        await tab.page.fill("#q", "pedido-10")
        await tab.page.press("#q", "Enter")
        await tab.page.wait_for_url("**/panel/search?**")
        await tab.page.locator("a.to").first.click()
        await expect(tab.page).to_have_url(re.compile("/payouts/pedido-10"))

        await tab.page.go_back()

        await expect(tab.page).to_have_url(re.compile("/panel/search.q=pedido-10"))
        await expect(tab.page.locator("a.to")).not_to_have_count(0)


async def test_going_back_to_a_payout_form_shows_it_empty(browser: Browser, site: PanelSite):
    """The summary contains a tax number, which must not be part of an address."""
    async with site.tab(browser, await site.people.fresh(Role.OPERATOR)) as tab:
        await tab.open("/panel/payouts/new?to=bank_account")
        await tab.page.select_option("[name=account_id]", site.seeds["main"])
        for name, typed in (("name", "Maria"), ("tax_number", "52998224725"), ("value", "1,00")):
            await tab.page.fill(f"[name={name}]", typed)
        for name, typed in (("bank_number", "341"), ("branch", "0001"), ("account", "123456-7")):
            await tab.page.fill(f"[name={name}]", typed)
        await tab.page.locator("main form").last.locator("button[type=submit]").last.click()
        await expect(tab.page.locator("[name=step][value=send]")).to_have_count(1)
        await tab.open("/panel/payouts")

        await tab.page.go_back()

        await expect(tab.page).to_have_url(re.compile("/panel/payouts/new"))
        await expect(tab.page.locator("[name=tax_number]")).to_have_value("")


async def test_going_back_after_signing_out_shows_nothing(browser: Browser, site: PanelSite):
    async with site.tab(browser, await site.people.fresh(Role.OPERATOR)) as tab:
        await tab.open("/panel")
        await tab.open("/panel/stay")
        await tab.page.get_by_role("button", name="Minha conta").click()
        await tab.page.get_by_role("button", name="Sair").click()
        await expect(tab.page.get_by_role("heading", level=1)).to_have_text("Entrar")

        for _ in range(2):
            await tab.page.go_back()
            await expect(tab.page.get_by_role("heading", level=1)).to_have_text("Entrar")


async def test_the_problems_of_a_file_are_downloaded_as_csv_for_excel(
    browser: Browser, site: PanelSite, tmp_path: Path
):
    async with site.tab(browser, await site.people.fresh(Role.OPERATOR)) as tab:
        await tab.page.goto(f"{site.origin}/panel/batches/{site.seeds['wrong_file']}")
        async with tab.page.expect_download() as download:
            await tab.page.locator("[data-download]").click()
        await (await download.value).save_as(tmp_path / "erros.csv")

    lines = (tmp_path / "erros.csv").read_bytes().decode("utf-8").splitlines()
    assert lines[0] == "\ufeffLinha;Motivo"
    assert len(lines) > 1


async def test_no_amount_of_a_file_is_cut_on_a_telephone(browser: Browser, site: PanelSite):
    cookies = await site.people.fresh(Role.APPROVER)
    async with site.tab(browser, cookies, Look(width=LEAST_WIDTH)) as tab:
        await tab.page.goto(f"{site.origin}/panel/batches/{site.seeds['file']}")

        table = tab.page.locator("[aria-labelledby=rows] .scroll")
        await expect(table.locator("td.num:visible").first).to_contain_text(",")
        assert await table.evaluate("each => each.scrollWidth <= each.clientWidth")
