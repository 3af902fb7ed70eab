"""What a page learns of its session."""

from __future__ import annotations

from datetime import timedelta

from tests.unit.door import EMAIL, HOME, PASSWORD
from tests.unit.people import COMPANY


async def test_without_a_browser_one_begins(hall):
    view = await hall.views.visit(None, HOME)

    assert view.new_cookie is True
    assert (view.signed_in, view.is_pending) == (None, False)
    assert await hall.again(view.browser) == view.browser


async def test_an_anonymous_browser_keeps_its_cookie(hall):
    browser = await hall.records.begin(HOME)

    view = await hall.views.visit(browser, HOME)

    assert (view.new_cookie, view.browser) == (False, browser)


async def test_while_a_code_is_asked_for_nobody_is_named(hall, maria):
    await hall.door.enrols()
    browser = await hall.records.begin(HOME)
    pending = await hall.records.login(browser, EMAIL, PASSWORD, HOME)

    view = await hall.views.with_new_cookie(pending)

    assert (view.is_pending, view.signed_in, view.new_cookie) == (True, None, True)


async def test_who_is_signed_in_is_told(hall, maria):
    await hall.door.enrols()
    browser = await hall.seated()

    view = await hall.views.visit(browser, HOME)

    assert view.signed_in is not None
    assert view.signed_in.person.email == EMAIL
    assert view.signed_in.codes_left == 10
    assert view.signed_in.company is None
    assert view.signed_in.idle_ends_at == hall.door.clock.now() + timedelta(minutes=15)


async def test_the_only_company_of_a_person_is_told(hall, maria):
    await hall.door.services.users.set_companies("cli", maria.id, [COMPANY])
    hall.door.clock.passes(1)

    view = await hall.views.visit(await hall.seated(), HOME)

    assert view.signed_in is not None
    assert view.signed_in.company is not None
    assert view.signed_in.company.id == COMPANY


async def test_looking_does_not_keep_a_session_alive(hall, maria):
    browser = await hall.seated()
    hall.door.clock.passes(600)

    view = await hall.views.visit(await hall.again(browser), HOME)

    assert view.signed_in is not None
    assert view.signed_in.idle_ends_at == hall.door.clock.now() + timedelta(minutes=5)
    hall.door.clock.passes(300)
    assert await hall.records.find(browser.cookie.value) is None


async def test_a_sign_in_that_has_ended_begins_anew(hall, maria):
    browser = await hall.seated()
    hall.door.clock.passes(1)
    await hall.door.services.users.end_sessions("cli", maria.id)

    view = await hall.views.visit(browser, HOME)

    assert (view.signed_in, view.new_cookie) == (None, True)
    assert view.browser.cookie != browser.cookie
