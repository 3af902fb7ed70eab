"""What holds of every page: who may open it, what a form needs, how refusals look."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from gateway.core.rights import Role
from gateway.http.panel.pages.represent import HEADERS
from tests.surfaces.panel.pages.person import TOKEN, Person, signed_in
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNT = re.compile(r'data-count="(\w+)"[^>]*>(\d+)')
LINK = {
    "Sec-Fetch-Site": "cross-site",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}


async def test_a_page_is_html_under_a_strict_policy(viewer: Person):
    seen = await viewer.open("/panel")

    assert seen.status == 200
    assert seen.headers["Content-Type"] == "text/html; charset=utf-8"
    assert {name: seen.headers[name] for name in HEADERS} == dict(HEADERS)
    assert "<h1>Visão geral</h1>" in seen.text


async def test_pages_and_parts_are_compressed(world: World, viewer: Person):
    """HEAD has the headers of GET; compression reveals nothing, because tokens are masked."""
    seen = [
        await viewer.open(path, **{"HX-Request-Type": "partial"} if part else {})
        for path in ("/panel", "/panel/payouts", "/panel/requests")
        for part in (False, True)
    ]
    plain = [
        await viewer.open("/panel", **{"Accept-Encoding": each})
        for each in ("identity", "gzip;q=0")
    ]
    url = f"http://127.0.0.1:{world.port}/panel"
    cookies = "; ".join(f"{name}={value}" for name, value in viewer.cookies.items())
    async with world.session.head(url, headers={"Cookie": cookies}) as head:
        body = await head.read()

    assert {each.headers["Content-Encoding"] for each in seen} == {"gzip"}
    assert all(int(each.headers["Content-Length"]) < len(each.text) / 2 for each in seen)
    assert all("Content-Encoding" not in each.headers for each in plain)
    assert {each.headers["Vary"] for each in (*seen, *plain)} == {HEADERS["Vary"]}
    assert (head.headers["Content-Encoding"], body) == ("gzip", b"")
    tokens = [set(TOKEN.findall(each.text)) for each in (*seen, *plain)]
    assert all(len(each) <= 1 for each in tokens)
    assert len(set().union(*tokens)) == sum(map(len, tokens)) > 1


async def test_a_page_without_a_session_redirects_to_the_sign_in(world: World):
    seen = await Person(world).open("/panel?period=7")

    assert (seen.status, seen.location) == (303, "/panel/login?next=%2Fpanel%3Fperiod%3D7")


async def test_the_sign_in_redirects_back(world: World):
    person = Person(world)
    await person.open("/panel/login?next=/panel%3Fperiod%3D7")

    seen = await person.send(
        "/panel/login",
        {"email": "viewer@panel.example", "password": PASSWORD, "next": "/panel?period=7"},
    )

    assert (seen.status, seen.location) == (303, "/panel?period=7")


async def test_a_wrong_password_shows_the_form_again_without_the_password(world: World):
    person = Person(world)
    await person.open("/panel/login")

    seen = await person.send(
        "/panel/login", {"email": "viewer@panel.example", "password": "canary-of-a-password"}
    )

    assert seen.status == 401
    assert "viewer@panel.example" in seen.text
    assert "canary-of-a-password" not in seen.text


async def test_preferences_hold_in_every_browser_of_the_user(world: World):
    """In the next page, in both browsers, and for no other user; no cookie is set."""
    here, there, other = Person(world), Person(world), Person(world)
    for person in (here, there):
        await person.sign_in("approver@panel.example")
    await other.sign_in("operator@panel.example")

    for fields in ({"language": "en"}, {"theme": "dark"}, {"keys": "off"}, {"theme": "odd"}):
        said = await here.send("/panel/preferences", {**fields, "back": "/panel"})
        assert (said.status, said.location) == (303, "/panel")

    for person in (here, there):
        seen = await person.open("/panel")
        assert '<html lang="en" data-theme="dark">' in seen.text
        assert 'data-keys="off"' in seen.text
        assert "<h1>Overview</h1>" in seen.text
        assert not {"pixgate-language", "pixgate-theme"} & set(person.cookies)
    seen = await other.open("/panel")
    assert '<html lang="pt-BR">' in seen.text
    assert "data-keys" not in seen.text

    await there.send("/panel/preferences", {"keys": "on", "back": "/panel"})
    assert "data-keys" not in (await here.open("/panel")).text


async def test_preferences_before_the_sign_in_are_kept_in_the_browser(world: World):
    person = Person(world)
    await person.open("/panel/login")

    for fields in ({"language": "en"}, {"theme": "dark"}):
        await person.send("/panel/preferences", {**fields, "back": "/panel/login"})

    assert '<html lang="en" data-theme="dark">' in (await person.open("/panel/login")).text
    await person.sign_in("security@panel.example")
    assert '<html lang="en" data-theme="dark">' in (await person.open("/panel")).text


async def test_a_link_from_another_site_starts_no_session(viewer: Person):
    """The cookie is not sent with it: a new session would end the existing one."""
    kept = dict(viewer.cookies)
    stranger = Person(viewer.world)

    first = await stranger.open("/panel", **LINK)
    seen = await stranger.open(first.location, **LINK)

    assert (first.status, first.location) == (303, "/panel/login?next=%2Fpanel")
    assert seen.status == 200
    assert 'href="/panel"' in seen.text
    assert stranger.cookies == {}
    assert viewer.cookies == kept


async def test_signing_out_ends_the_session_and_may_be_repeated(world: World):
    person = Person(world)
    await person.sign_in("viewer@panel.example")

    for leads in ("/panel/login?done=out", "/panel/login"):
        said = await person.send("/panel/logout")
        assert (said.status, said.location) == (303, leads)
    seen = await person.open("/panel")

    assert seen.location.startswith("/panel/login")


async def test_a_missing_page_is_a_404_in_html(viewer: Person):
    await viewer.open("/panel")

    seen = await viewer.open("/panel/not-there")
    script = await viewer.open("/panel/not-there", Accept="application/json")

    assert (seen.status, seen.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "não existe" in seen.text
    assert script.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize(
    ("page", "back"),
    [
        ("https://panel.example/panel/payouts?tab=open", "%2Fpanel%2Fpayouts%3Ftab%3Dopen"),
        ("https://evil.example/elsewhere", "%2Fpanel"),
        ("http://[", "%2Fpanel"),
        ("", "%2Fpanel"),
    ],
)
async def test_a_partial_page_without_a_session_redirects_to_the_sign_in(
    world: World, page: str, back: str
):
    headers = {"HX-Request-Type": "partial", "HX-Current-URL": page, "Sec-Fetch-Mode": "cors"}

    seen = await Person(world).open("/panel/payouts", **headers)

    assert (seen.status, seen.headers["HX-Redirect"]) == (401, f"/panel/login?next={back}")


async def test_a_refused_form_links_to_its_page(viewer: Person):
    """Its choices, and going back, lead to a page; so does the form's own address."""
    await viewer.open("/panel/me")

    refused = await viewer.send("/panel/me/password", {"current_password": "no"})
    asked = await viewer.open("/panel/me/password?x=1")
    unknown = await viewer.open("/panel/me/nothing")

    assert refused.status in {400, 401}
    assert 'name="back" value="/panel/me"' in refused.text
    assert 'data-here="/panel/me"' in refused.text
    assert (asked.status, asked.location) == (303, "/panel/me")
    assert unknown.status == 404


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("pedido 1/2", "pedido%201%2F2"),
        ("a..b", "a%2E%2Eb"),
        ("E99999999202611201340123456789AB", "E99999999202611201340123456789AB"),
        ("0f8fad5b-d9cb-469f-a165-708672895252", "0f8fad5b-d9cb-469f-a165-708672895252"),
    ],
)
async def test_a_search_redirects_to_its_own_address(viewer: Person, text: str, asked: str):
    await viewer.open("/panel")

    seen = await viewer.send("/panel/search", {"q": text})

    assert (seen.status, seen.location) == (303, f"/panel/search?q={asked}")
    assert (await viewer.open(seen.location)).status == 200


@pytest.mark.parametrize(
    "text",
    [
        *("529.982.247-25", "52998224725", "CPF 529.982.247-25."),
        *("40.688.134/0001-61", "40688134000161"),
        *("maria@example.com", "+5511987654321", "gws_secret"),
    ],
)
async def test_personal_data_is_in_no_address(viewer: Person, text: str):
    await viewer.open("/panel")

    sent = await viewer.send("/panel/search", {"q": text})
    opened = await viewer.open(f"/panel/search?q={quote(text)}")

    assert (sent.status, sent.location) == (200, "")
    assert "Nada encontrado" in sent.text
    assert "Nada foi buscado" in opened.text
    assert f'value="{text}"' in opened.text


LISTS = (
    *("accounts", "approvals?status=all", "audit", "callbacks", "companies", "credentials"),
    *("people", "payouts"),
)


@pytest.mark.parametrize("path", LISTS)
async def test_a_page_past_the_end_links_to_the_first_page(admin: Person, path: str):
    """It must not look as if nothing had ever happened."""
    path = f"/panel/{path}{'&' if '?' in path else '?'}page=99"

    seen = await admin.open(path)

    assert seen.status == 200
    rows = seen.text.partition("<main")[2].count('scope="row"')
    assert (rows == 0) == ("Isto passa do fim da lista" in seen.text)
    if rows == 0:
        first = re.search(r'href="([^"]+)">Ir para a primeira página', seen.text)
        assert first is not None
        assert "page=" not in first[1]


@pytest.mark.parametrize(
    ("path", "status", "current"),
    [
        ("/panel/accounts/0f8fad5b-d9cb-469f-a165-708672895252", 404, ["/panel/accounts"]),
        ("/panel/credentials/new", 403, []),
    ],
)
async def test_an_error_page_marks_its_entry_and_keeps_the_counts(
    world: World, path: str, status: int, current: list[str]
):
    person = Person(world)
    await person.sign_in("approver@panel.example")
    whole = await person.open("/panel")

    seen = await person.open(path)

    side = seen.text.partition("<main")[0]
    entries = re.findall(r'<a href="([^"]+)"[^>]*aria-current="page"', side)
    assert (seen.status, entries) == (status, current)
    assert COUNT.findall(side) == COUNT.findall(whole.text.partition("<main")[0])


async def test_a_missing_record_is_reported_once(viewer: Person):
    """And without words for partners, who have credentials."""
    seen = await viewer.open("/panel/accounts/0f8fad5b-d9cb-469f-a165-708672895252")

    page = seen.text.partition("<main")[2]
    assert page.count("não existe, ou você não tem acesso") == 1
    assert "credencial" not in page.partition("</main>")[0]


async def test_a_404_page_shows_the_signed_in_user(world: World):
    """In their language and theme, with their own menu; others see the sign-in page."""
    person = await signed_in(world, Role.VIEWER)
    for fields in ({"language": "en"}, {"theme": "dark"}):
        await person.send("/panel/preferences", {**fields, "back": "/panel"})

    unknown = await person.open("/panel/not-there/at-all")
    other_method = await person.send("/panel/providers")
    stranger = await Person(world).open("/panel/not-there/at-all")

    for seen, status in ((unknown, 404), (other_method, 405)):
        assert seen.status == status
        assert '<html lang="en" data-theme="dark">' in seen.text
        assert 'action="/panel/logout"' in seen.text
        assert 'aria-current="page"' not in seen.text
    assert "It does not exist, or you have no access to it." in unknown.text
    assert stranger.status == 404
    assert '<html lang="pt-BR">' in stranger.text
    assert 'action="/panel/logout"' not in stranger.text
