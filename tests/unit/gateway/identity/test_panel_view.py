"""What a page learns of its session."""

from __future__ import annotations

from datetime import timedelta

from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.core.user_errors import CSRF_FAILED
from gateway.identity.model import CompaniesBody
from tests.unit.refusals import refused
from tests.world.identity import EMAIL, HOME, PASSWORD
from tests.world.people import CLI, COMPANY, OTHER_COMPANY
from tests.world.standing import NOON
from tests.world.stores.samples import event


async def test_without_a_browser_one_begins(panel_world):
    view = await panel_world.views.visit(None)

    assert view.new_cookie is True
    assert (view.signed_in, view.is_pending) == (None, False)
    assert await panel_world.again(view.browser) == view.browser


async def test_an_anonymous_browser_keeps_its_cookie(panel_world):
    browser = panel_world.records.begin()

    view = await panel_world.views.visit(browser)

    assert (view.new_cookie, view.browser) == (False, browser)


async def test_while_a_code_is_asked_for_nobody_is_named(panel_world, maria):
    await panel_world.identity_world.enrol()
    browser = panel_world.records.begin()

    view = await panel_world.views.login(browser, EMAIL, PASSWORD, HOME)

    assert (view.is_pending, view.signed_in, view.new_cookie) == (True, None, True)


async def test_who_is_signed_in_is_told(panel_world, maria):
    await panel_world.identity_world.enrol()
    browser = await panel_world.signed_in_browser()

    view = await panel_world.views.visit(browser)

    assert view.signed_in is not None
    assert view.signed_in.person.email == EMAIL
    assert view.signed_in.codes_left == 10
    assert view.signed_in.company is None
    assert view.signed_in.idle_ends_at == panel_world.identity_world.clock.now() + timedelta(
        minutes=15
    )


async def test_the_only_company_of_a_person_is_told(panel_world, maria):
    await panel_world.identity_world.services.users.set_companies(
        CLI, maria.id, CompaniesBody([COMPANY])
    )
    panel_world.identity_world.clock.passes(1)

    view = await panel_world.views.visit(await panel_world.signed_in_browser())

    assert view.signed_in is not None
    assert view.signed_in.company is not None
    assert view.signed_in.company.id == COMPANY


async def test_of_several_companies_none_is_told_as_the_only_one(panel_world, maria):
    both, store = [COMPANY, OTHER_COMPANY], panel_world.identity_world.store
    await add_company(store.database, Company(OTHER_COMPANY, "Another", NOON), event())
    await panel_world.identity_world.services.users.set_companies(
        CLI, maria.id, CompaniesBody(list(both))
    )
    panel_world.identity_world.clock.passes(1)

    view = await panel_world.views.visit(await panel_world.signed_in_browser())

    assert view.signed_in is not None
    assert view.signed_in.company is None


async def test_looking_does_not_keep_a_session_alive(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(600)

    view = await panel_world.views.visit(await panel_world.again(browser))

    assert view.signed_in is not None
    assert view.signed_in.idle_ends_at == panel_world.identity_world.clock.now() + timedelta(
        minutes=5
    )
    panel_world.identity_world.clock.passes(300)
    assert await panel_world.records.find(browser.cookie.value) is None


async def test_a_sign_in_that_has_ended_begins_anew(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(1)
    await panel_world.identity_world.services.users.end_sessions(CLI, maria.id)

    view = await panel_world.views.visit(browser)

    assert (view.signed_in, view.new_cookie) == (None, True)
    assert view.browser.cookie != browser.cookie


async def test_without_a_browser_nobody_signs_in(panel_world, maria):
    """A gate that forgot to look for the cookie is no way in."""
    with refused(CSRF_FAILED):
        await panel_world.views.login(None, EMAIL, PASSWORD, HOME)
    with refused(CSRF_FAILED):
        await panel_world.views.submit_code(None, "123456", HOME)
