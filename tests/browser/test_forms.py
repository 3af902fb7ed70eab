"""
Every form of every page, found by walking: no foreign page and no other session can send it.

A form that somebody adds is found by itself, without a list.
"""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from gateway.domain.identity.rights import Role
from tests.browser.forms import stored
from tests.browser.panel_site import PanelSite
from tests.browser.people import NOBODY, PENDING, PLAIN
from tests.browser.screens import SCREENS
from tests.browser.walking import TOKEN, Form, Visitor, read, visiting, walk

WALKERS = (NOBODY, PENDING, PLAIN, *Role)


REFUSED = frozenset({400, 403, 413, 415})


async def forms_of(site: PanelSite, who: str) -> dict[Any, Form]:
    """Walk as somebody and return a form of each kind, by kind."""
    starts = [each.at(site.seeds) for each in SCREENS if each.by == who or who in set(Role)]
    async with visiting(site, await site.people.cookies_of(who)) as visitor:
        pages = await walk(visitor, starts)
    assert pages
    return {form.kind: form for page in pages for form in read(page).forms}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def forms(site: PanelSite) -> dict[str, dict[Any, Form]]:
    """Every kind of form, by who finds it."""
    return {who: await forms_of(site, who) for who in WALKERS}


def without(form: Form) -> list[tuple[str, str]]:
    """Return the fields but the token."""
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
@pytest.mark.parametrize("who", WALKERS)
async def test_a_form_is_refused_and_nothing_changes(
    site: PanelSite, forms: dict[str, dict[Any, Form]], who: str, way: Any
):
    assert forms[who]
    async with visiting(site, {}) as stranger:
        other = await stranger.token("/panel/login")
    async with visiting(site, await site.people.cookies_of(who)) as visitor:
        if who == NOBODY:
            await visitor.open("/panel/login")
        before = await stored(site)

        found = {form.action: await way(visitor, form, other) for form in forms[who].values()}

        after = await stored(site)
    assert {action: status for action, status in found.items() if status not in REFUSED} == {}
    assert after == before


async def test_the_walk_finds_the_forms_that_there_are(forms: dict[str, dict[Any, Form]]):
    """Else the tests above would hold of nothing."""
    found = {path for who in WALKERS for path, _ in forms[who]}

    assert {"/panel/login", "/panel/forgotten", "/panel/logout", "/panel/factor"} <= found
