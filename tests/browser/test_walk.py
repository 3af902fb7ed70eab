"""
Every page and form, found by following links as each role: what is shown opens, and only that.

A new page or form is found without a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from gateway.core.rights import RIGHTS, Role
from gateway.http.panel.pages.surface import NAME
from gateway.http.panel.pages.visit import Visit
from gateway.http.route import Route
from tests.browser.forms import stored
from tests.browser.panel_site import PanelSite
from tests.browser.people import NOBODY, PENDING, PLAIN
from tests.browser.screens import FORBIDDEN
from tests.browser.walking import TOKEN, Form, Seen, Visitor, read, visiting, walk_of
from tests.world.secret_columns import stored_secrets
from tests.world.surfaces import surface_named

SURFACE = surface_named(NAME)
BEGUN = "/panel"
WALKERS = (NOBODY, PENDING, PLAIN, *Role)
REFUSED = frozenset({400, 403, 413, 415})

JWT = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.")
"""Two parts at least: three letters alone stand in a payment code by chance."""
CPF = re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}")
EXAMPLES = ("/panel/reference", "/panel/errors", "/panel/sandbox")
"""Pages of documentation: the people in them are made up."""

Forms = Mapping[str, Mapping[Any, Form]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def forms(site: PanelSite) -> Forms:
    return {
        who: {
            form.kind: form
            for page in (await walk_of(site, who)).pages
            for form in read(page).forms
        }
        for who in WALKERS
    }


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pages(site: PanelSite) -> list[Seen]:
    return [page for role in Role for page in (await walk_of(site, role)).pages]


def without(form: Form) -> list[tuple[str, str]]:
    return [(name, value) for name, value in form.fields if name != TOKEN]


async def no_token(visitor: Visitor, form: Form, _other: str) -> int:
    return (await visitor.send(form.action, without(form))).status


async def token_of_another(visitor: Visitor, form: Form, other: str) -> int:
    return (await visitor.send(form.action, [*without(form), (TOKEN, other)])).status


async def from_elsewhere(visitor: Visitor, form: Form, _other: str) -> int:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    return (await visitor.send(form.action, form.fields, **headers)).status


async def silent_from_elsewhere(visitor: Visitor, form: Form, _other: str) -> int:
    """An old browser says nothing of its site, and still the origin."""
    headers = {"Sec-Fetch-Site": "", "Origin": "https://evil.example"}
    return (await visitor.send(form.action, form.fields, **headers)).status


async def as_json(visitor: Visitor, form: Form, _other: str) -> int:
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": visitor.origin}
    said = await visitor.ask("POST", form.action, headers=headers, json=dict(form.fields))
    return said.status


async def as_multipart(visitor: Visitor, form: Form, _other: str) -> int:
    data = aiohttp.FormData(form.fields, default_to_multipart=True)
    headers = {"Sec-Fetch-Site": "same-origin", "Origin": visitor.origin}
    return (await visitor.ask("POST", form.action, headers=headers, data=data)).status


WAYS = (no_token, token_of_another, from_elsewhere, silent_from_elsewhere, as_json, as_multipart)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_a_forged_form_is_refused_and_nothing_changes(
    site: PanelSite, forms: Forms, way: Any
):
    async with visiting(site, {}) as stranger:
        other = await stranger.token("/panel/login")
    found = {}
    cookies = {who: await site.people.cookies_of(who) for who in forms}
    before = await stored(site)
    for who, theirs in forms.items():
        async with visiting(site, cookies[who]) as visitor:
            if who == NOBODY:
                await visitor.open("/panel/login")
            for form in theirs.values():
                found[who, form.action] = await way(visitor, form, other)

    after = await stored(site)
    assert {who for who, _ in found} == set(WALKERS)
    assert {form: status for form, status in found.items() if status not in REFUSED} == {}
    assert after == before


async def test_the_walk_finds_the_known_forms(forms: Forms):
    """Otherwise the test above would prove nothing."""
    found = {path for theirs in forms.values() for path, _ in theirs}

    assert {"/panel/login", "/panel/forgotten", "/panel/logout", "/panel/factor"} <= found


def guarded(role: Role) -> Iterator[Route[Visit]]:
    for gate in SURFACE.gates:
        for route in gate.routes:
            if route.needs is not None and not any(
                held.covers(route.needs) for held in RIGHTS[role]
            ):
                yield route


async def test_a_route_without_the_required_right_is_403(site: PanelSite):
    """With a valid token and origin: only the right is missing."""
    found = {}
    for role in Role:
        async with visiting(site, await site.people.cookies_of(role)) as visitor:
            token = await visitor.token(BEGUN)
            for route in guarded(role):
                path = SURFACE.prefix + re.sub(r"\{\w+\}", "x", route.path)
                if route.method == "GET":
                    said = await visitor.open(path)
                else:
                    said = await visitor.send(path, {TOKEN: token})
                found[role, route.name] = said.status

    assert found
    assert {route: status for route, status in found.items() if status != FORBIDDEN} == {}


async def test_every_link_shown_to_a_role_opens(site: PanelSite):
    """No link of a page leads to a refusal or a missing page, and no page fails."""
    linked = [(role, page) for role in Role for page in (await walk_of(site, role)).linked]

    assert {role for role, _ in linked} == set(Role)
    assert {(who, page.path): page.status for who, page in linked if page.status != 200} == {}


def showing(pages: list[Seen], text: str) -> list[str]:
    return [page.path for page in pages if text in page.text]


async def test_secrets_appear_in_no_page(site: PanelSite, pages: list[Seen]):
    demo = site.world.demo
    secrets = [pair["client_secret"] for pair in demo["credentials"].values()]
    for person in demo["users"].values():
        secrets += [person["password"], person.get("totp_secret", person["password"])]
    for cookies in site.people.cookies.values():
        secrets += cookies.values()

    for values in (await stored_secrets(site.world.gateway.kernel)).values():
        secrets += values

    found = {secret[:6]: showing(pages, secret) for secret in secrets}
    assert {name: paths for name, paths in found.items() if paths} == {}
    assert [page.path for page in pages if JWT.search(page.text)] == []


async def test_no_page_shows_the_cpf_or_the_key_of_a_person(pages: list[Seen]):
    """Except for a waiting order: its approver sees where the money goes."""
    orders = re.compile(r"/panel/approvals/[0-9a-f-]{36}")
    shown = [
        page
        for page in pages
        if not page.path.startswith(EXAMPLES) and not orders.fullmatch(page.path)
    ]

    assert showing(shown, "52998224725") == []
    assert showing(shown, "maria@example.com") == []
    assert [page.path for page in shown if CPF.search(page.text)] == []


async def test_no_redirect_leads_to_another_site(site: PanelSite):
    """After a sign-in, after a choice of language, and from a link in a mail."""
    found = {}
    async with visiting(site, await site.people.cookies_of(Role.ADMIN)) as visitor:
        for path in ("//evil.example", "https://evil.example", "/\\evil.example"):
            token = await visitor.token("/panel")
            chosen = await visitor.send(
                "/panel/preferences", {"csrf_token": token, "language": "en", "back": path}
            )
            entered = await visitor.open(f"/panel/login?next={path}")
            found[path] = {(each.status, each.location) for each in (chosen, entered)}

    assert {path: led for path, led in found.items() if led != {(303, "/panel")}} == {}
