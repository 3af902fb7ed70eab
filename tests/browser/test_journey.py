"""
A day in the panel: from the sign-in to signing out; in ``make proofs`` without script too.

What a partner does between is done by the interface, with the credential that was issued here.
The README leads a stranger the same way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from gateway.core.rights import Role
from tests.browser import journey, panel_site
from tests.browser.panel_site import PanelSite
from tests.world.extent import WHOLE

SCRIPTED = {True: "with script", False: "without script"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PanelSite]:
    """A gateway of this module alone: much changes."""
    wanted = panel_site.settings(tmp_path_factory.mktemp("journey"))
    async with panel_site.serving(wanted) as made:
        yield made


@pytest.mark.parametrize("scripted", [True, False] if WHOLE else [True], ids=SCRIPTED.get)
async def test_a_day_in_the_panel(browser: Browser, stage: PanelSite, scripted: bool):
    """The first orders, the other two decide: nobody approves or judges alone."""
    day = "js" if scripted else "plain"
    people = [
        await stage.people.make(*roles)
        for roles in ((Role.SECURITY, Role.OPERATOR), (Role.APPROVER,), (Role.APPROVER,))
    ]
    async with (
        journey.at_desk(browser, stage, people[0], scripted=scripted) as first,
        journey.at_desk(browser, stage, people[1], scripted=scripted) as second,
        journey.at_desk(browser, stage, people[2], scripted=scripted) as third,
    ):
        partner = await journey.issue(first, second, f"ERP {day}")
        assert (await partner.ask("GET", "/balance"))[0] == 200
        await journey.charge(first, f"cobranca-{day}")
        await journey.pay_by_key(first, second, f"dia-{day}")
        await journey.lose_and_find(first, partner, f"perdido-{day}")
        await journey.judge((second, third), partner, f"julgado-{day}")
        await journey.be_refused(first, partner)
        await journey.export(first, f"dia-{day}")
        await journey.sign_out(first)

        findings = [each for desk in (first, second, third) for each in desk.tab.findings]

    assert findings == []
