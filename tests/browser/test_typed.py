"""
A refused form shows what was typed into it again, whatever the reason.

The forms are found by opening every screen, so a new one is included. Passwords, codes and secrets
are typed again, never shown again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import update

from gateway.core.rights import Role
from gateway.store.tables.identity import sessions
from tests.browser import panel_site
from tests.browser.filling import Filled, forms_in
from tests.browser.panel_site import PanelSite
from tests.browser.people import NOBODY
from tests.browser.screens import SCREENS
from tests.browser.walking import Visitor, visiting

WALKERS = (NOBODY, Role.ADMIN, Role.OPERATOR, Role.APPROVER, Role.SECURITY)
LEAVES = ("/panel/logout", "/panel/preferences")
"""Forms that end the visit, or change how all the others look."""

ASKED = frozenset(
    {"/panel/accounts/*", "/panel/accounts/*/bank"}
    | {"/panel/companies", "/panel/credentials/*/revoke"}
)
REFUSED = ASKED - {"/panel/companies"} | {"/panel/login", "/panel/stops/new", "/panel/payouts/new"}
REFUSED |= {"/panel/me/factor/remove"}
"""Some of the forms that must be among them: else the tests would hold of nothing."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PanelSite]:
    """A gateway of these tests alone: some forms are not refused, and act."""
    async with panel_site.serving(panel_site.settings(tmp_path_factory.mktemp("typed"))) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def forms(own: PanelSite) -> Mapping[str, Mapping[Any, tuple[str, Filled]]]:
    """Every kind of form that a person types into, with its page, by the role that finds it."""
    return {who: await forms_of(own, who) for who in WALKERS}


async def forms_of(site: PanelSite, who: str) -> Mapping[Any, tuple[str, Filled]]:
    starts = [each.at(site.seeds) for each in SCREENS if each.by == who or who in set(Role)]
    async with visiting(site, await site.people.cookies_of(who)) as visitor:
        pages = [await visitor.open(start) for start in starts]
    return {
        form.kind: (page.path, form)
        for page in pages
        for form in forms_in(page.path, page.text)
        if form.typed() and not form.action.startswith(LEAVES)
    }


@dataclass(frozen=True, slots=True)
class Sent:
    """
    The result of filling in and sending a form.

    Attributes:
        lost: What was typed, and what the page shows instead; nothing where all is kept.
    """

    path: str
    status: int
    lost: object = None


async def send(visitor: Visitor, page: str, form: Filled, *, sure: bool) -> Sent | None:
    """Fill in the current form and send it; None when it has disappeared."""
    there = forms_in(page, (await visitor.open(page)).text)
    now = next(
        (each for each in there if (each.action, each.kind) == (form.action, form.kind)), None
    )
    if now is None:
        return None
    filled = {name: each.filled(sure=sure) for name, each in now.fields.items()}
    fields = [(name, value) for name, values in filled.items() for value in values]
    seen = await visitor.send(now.action, fields)
    wanted = {name: filled[name] for name in now.typed()}
    kept = [each.typed() for each in forms_in(page, seen.text) if each.action == now.action]
    is_kept = any({name: each.get(name) for name in wanted} == wanted for each in kept)
    lost = None if seen.status < 400 or is_kept else (wanted, kept)
    return Sent(form.kind[0], seen.status, lost)


async def send_all(
    site: PanelSite, forms: Mapping[str, Mapping[Any, tuple[str, Filled]]], *, fresh: bool
) -> list[Sent]:
    """Send every form of everybody, with a code given just now or long ago."""
    answers = []
    for who, found in forms.items():
        is_nobody = who == NOBODY
        cookies = {} if is_nobody else await site.people.fresh(Role(who))
        async with visiting(site, cookies) as visitor:
            for page, form in found.values():
                if not fresh:
                    await age_factors(site)
                answers.append(await send(visitor, page, form, sure=not fresh))
    return [each for each in answers if each is not None]


async def age_factors(site: PanelSite) -> None:
    """Let every second factor have been given long ago."""
    long_ago = site.world.gateway.kernel.now() - timedelta(hours=1)
    async with site.world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(update(sessions).values(factor_at=long_ago))


async def test_a_form_that_requires_a_code_loses_nothing_typed(own: PanelSite, forms: Any):
    sent = await send_all(own, forms, fresh=False)

    assert [each for each in sent if each.lost] == []
    assert {each.path for each in sent if each.status == 403} >= ASKED


async def test_a_form_that_is_refused_loses_nothing_typed(own: PanelSite, forms: Any):
    sent = await send_all(own, forms, fresh=True)

    assert [each for each in sent if each.lost] == []
    assert {each.path for each in sent if each.status >= 400} >= REFUSED
