"""Each page and act under each role: what is shown opens, what is not shown is refused too."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gateway.domain.identity.rights import RIGHTS, Role
from gateway.http.panel.pages.surface import NAME
from gateway.http.panel.pages.visit import Visit
from gateway.http.route import Row
from tests.browser.panel_site import PanelSite
from tests.browser.screens import FORBIDDEN, NOT_FOUND, SCREENS
from tests.browser.walking import TOKEN, read, visiting, walk
from tests.world.surfaces import surface_named

SURFACE = surface_named(NAME)
BEGUN = "/panel"
MANY = 500


def guarded(role: Role) -> Iterator[Row[Visit]]:
    """Return the rows whose right a role does not have."""
    for gate in SURFACE.gates:
        for row in gate.rows:
            if row.needs is not None and not any(held.covers(row.needs) for held in RIGHTS[role]):
                yield row


@pytest.mark.parametrize("role", Role)
async def test_what_a_role_may_not_do_is_refused(site: PanelSite, role: Role):
    """With its own token and from our page: nothing but the right is missing."""
    found = {}
    async with visiting(site, await site.people.cookies_of(role)) as visitor:
        token = await visitor.token(BEGUN)
        for row in guarded(role):
            path = SURFACE.prefix + re.sub(r"\{\w+\}", "x", row.path)
            if row.method == "GET":
                said = await visitor.open(path)
            else:
                said = await visitor.send(path, {TOKEN: token})
            found[row.name] = said.status

    assert {name: status for name, status in found.items() if status != FORBIDDEN} == {}


@pytest.mark.parametrize("role", Role)
async def test_what_a_role_is_shown_opens(site: PanelSite, role: Role):
    """No link of a page leads to a refusal or to nothing, and no page fails."""
    async with visiting(site, await site.people.cookies_of(role)) as visitor:
        pages = await walk(visitor, [BEGUN])

    assert {page.path: page.status for page in pages if page.status != 200} == {}


@pytest.mark.parametrize("role", Role)
async def test_what_belongs_to_another_company_is_not_there(site: PanelSite, role: Role):
    """Neither its pages nor the forms in them; a role without the right learns no more."""
    theirs = [each for each in SCREENS if each.empty == NOT_FOUND]
    found = {}
    async with visiting(site, await site.people.cookies_of(role)) as insider:
        pages = [await insider.open(each.at(site.seeds)) for each in theirs]
    forms = {form.action for page in pages for form in read(page).forms}
    company = site.seeds["nothing"]
    async with visiting(site, await site.people.cookies_of(role, company)) as outsider:
        token = await outsider.token(BEGUN)
        for each in theirs:
            found[each.name] = (await outsider.open(each.at(site.seeds))).status
        for action in forms - COMMON:
            found[action] = (await outsider.send(action, {TOKEN: token})).status

    wrong = {name: status for name, status in found.items() if status not in HIDDEN}
    assert wrong == {}


HIDDEN = frozenset({NOT_FOUND, FORBIDDEN})
COMMON = frozenset({"/panel/preferences", "/panel/logout", "/panel/search"})
"""Forms that stand on every page and concern nobody else."""


def test_a_role_without_a_right_is_tested():
    """Else the first test would hold of nothing."""
    assert any(True for role in Role for _ in guarded(role))
