"""The panel's sessions, below HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.core.browsers import Browser, PanelState
from gateway.core.errors import ServiceError
from gateway.core.user_errors import (
    CSRF_FAILED,
    MFA_EXPIRED,
    PASSWORD_WRONG,
    SESSION_REQUIRED,
)
from policies.traffic.csrf import check_token
from tests.unit.refusals import refused
from tests.world.identity import EMAIL, HOME, PASSWORD
from tests.world.people import CLI
from tests.world.waiting import settle


async def with_factor(panel_world) -> Browser:
    """Sign in with a code, which counts as just given."""
    await panel_world.identity_world.enrol()
    return await panel_world.signed_in_browser()


async def test_a_browser_begins_with_a_token_and_nothing_else(panel_world):
    browser = panel_world.records.begin()

    found = await panel_world.again(browser)

    assert found == browser
    assert found.panel.state is PanelState.ANONYMOUS
    assert len(found.panel.csrf) == 43
    assert await panel_world.records.signed_in(found) is None
    # a stranger's look leaves no row
    assert await panel_world.context.store.find(browser.cookie.id_hash) is None


async def test_a_quarter_of_an_hour_later_a_browser_begins_anew(panel_world):
    browser = panel_world.records.begin()

    panel_world.identity_world.clock.passes(899)
    assert await panel_world.again(browser) == browser
    panel_world.identity_world.clock.passes(1)
    assert await panel_world.records.find(browser.cookie.value) is None


async def test_a_wrong_password_changes_nothing(panel_world, maria):
    browser = panel_world.records.begin()

    with refused(PASSWORD_WRONG):
        await panel_world.records.login(browser, EMAIL, "wrong wrong wrong", HOME)

    assert await panel_world.again(browser) == browser


async def test_a_sign_in_is_of_the_panel_and_known_by_its_cookie(panel_world, maria):
    browser = await panel_world.signed_in_browser()

    seated = await panel_world.records.authenticate(await panel_world.again(browser))
    (session,) = await panel_world.identity_world.services.sessions.list(seated.person)

    assert seated.person.email == EMAIL
    assert session.panel is True
    assert session.id == browser.panel.session_id
    assert ("session_event", "created") in panel_world.counted


async def test_a_cookie_from_before_the_sign_in_is_worth_nothing_after_it(panel_world, maria):
    """Whoever planted it learns neither cookie nor token of a sign-in, even of a repeated one."""
    browser = panel_world.records.begin()

    made = [await panel_world.records.login(browser, EMAIL, PASSWORD, HOME) for _ in range(2)]

    before = await panel_world.again(browser)
    assert await panel_world.records.signed_in(before) is None
    assert len({each.cookie.value for each in (before, *made)}) == 3
    assert len({each.panel.csrf for each in (before, *made)}) == 3


async def test_a_code_is_taken_where_one_was_asked_for(panel_world, maria):
    await panel_world.identity_world.enrol()
    browser = panel_world.records.begin()

    with refused(MFA_EXPIRED):
        await panel_world.records.submit_code(browser, panel_world.identity_world.code(), HOME)
    pending = await panel_world.records.login(browser, EMAIL, PASSWORD, HOME)

    assert pending.panel.state is PanelState.MFA_PENDING
    assert (pending.panel.user_id, pending.panel.session_id) == ("", "")
    full = await panel_world.records.submit_code(pending, panel_world.identity_world.code(), HOME)
    assert full.panel.state is PanelState.FULL


async def test_a_row_and_another_secret_are_nothing(panel_world, maria):
    """And the session of who has the right one goes on."""
    browser = await panel_world.signed_in_browser()
    name, _, _ = browser.cookie.value.partition(".")

    assert await panel_world.records.find(f"{name}.AAAAAAAAAAAAAAAAAAAAAA") is None
    assert await panel_world.again(browser) == browser


async def test_signing_out_ends_the_sign_in_and_the_cookie(panel_world, maria):
    browser = await panel_world.signed_in_browser()

    await panel_world.records.logout(browser)
    await panel_world.records.logout(browser)
    await panel_world.records.logout(None)

    assert await panel_world.records.find(browser.cookie.value) is None
    assert (
        await panel_world.identity_world.store.identity.sessions.of(
            maria.id, panel_world.identity_world.clock.now()
        )
        == []
    )
    assert panel_world.counted.count(("session_event", "logout")) == 1


async def test_a_store_that_fails_is_never_a_sign_out(panel_world, maria, monkeypatch):
    browser = await panel_world.signed_in_browser()

    async def fails(*_arguments):
        raise RuntimeError

    monkeypatch.setattr(type(panel_world.identity_world.store.identity.sessions), "end", fails)
    with pytest.raises(RuntimeError):
        await panel_world.records.logout(browser)

    assert await panel_world.again(browser) == browser


async def test_after_a_code_the_old_cookie_changes_nothing_and_then_is_void(panel_world, maria):
    """Requests that were on their way are read; the browser has the new cookie."""
    old = await panel_world.signed_in_browser()

    new = await panel_world.records.rotate(old)
    seated = await panel_world.records.authenticate(new)
    late = await panel_world.records.authenticate(await panel_world.again(old))

    assert seated.person.email == EMAIL
    assert new.panel.csrf != old.panel.csrf
    assert (late.browser.cookie, late.browser.reads_only) == (old.cookie, True)
    with refused(SESSION_REQUIRED):
        check_token(late.browser.panel.csrf, late.browser)
    with refused(SESSION_REQUIRED):
        await panel_world.records.rotate(old)
    panel_world.identity_world.clock.passes(30)
    assert await panel_world.records.find(old.cookie.value) is None
    assert (await panel_world.records.authenticate(await panel_world.again(new))).person == (
        seated.person
    )


async def test_an_answer_that_was_lost_signs_nobody_out(panel_world, maria):
    """The old cookie gives the one new cookie, as often as it is lost, and no fresh factor."""
    old = await with_factor(panel_world)

    new = await panel_world.records.rotate(old)
    for _ in range(3):
        seated = await panel_world.records.authenticate(await panel_world.again(old))
        assert seated.browser.cookie == new.cookie
        assert seated.person.factor_at is None

    with refused(CSRF_FAILED) as refusal:
        check_token(old.panel.csrf, seated.browser)
    assert refusal.value.reason == "answer_lost"
    check_token(new.panel.csrf, seated.browser)
    again = await panel_world.records.authenticate(await panel_world.again(new))
    assert again.person.factor_at is None
    assert ("session_event", "recovered") in panel_world.counted


async def test_a_timer_gets_no_new_cookie_and_costs_no_factor(panel_world, maria):
    old = await with_factor(panel_world)
    new = await panel_world.records.rotate(old)

    asked = await panel_world.records.authenticate(await panel_world.again(old), acts=False)
    seated = await panel_world.records.authenticate(await panel_world.again(new))

    assert (asked.browser.cookie, asked.browser.reads_only) == (old.cookie, True)
    assert seated.person.factor_at is not None


async def test_the_half_minute_is_never_longer_than_the_session(panel_world, maria):
    old = await panel_world.signed_in_browser()
    left = old.panel.ends_at - panel_world.identity_world.clock.now()
    while left.total_seconds() > 800:
        panel_world.identity_world.clock.passes(700)
        left -= timedelta(seconds=700)
        old = (await panel_world.records.authenticate(await panel_world.again(old))).browser
    panel_world.identity_world.clock.passes(left.total_seconds() - 10)

    await panel_world.records.rotate(await panel_world.again(old))
    panel_world.identity_world.clock.passes(10)

    assert await panel_world.records.find(old.cookie.value) is None


@pytest.mark.parametrize("delivered", [False, True])
async def test_signing_out_ends_a_replaced_cookie_too(panel_world, maria, delivered: bool):
    """With either cookie."""
    old = await panel_world.signed_in_browser()
    new = await panel_world.records.rotate(old)
    if delivered:
        await panel_world.records.authenticate(new)

    await panel_world.records.logout(await panel_world.again(new if delivered else old))

    for each in (old, new):
        found = await panel_world.records.find(each.cookie.value)
        if found is not None:
            with refused(SESSION_REQUIRED):
                await panel_world.records.authenticate(found)


async def test_an_hour_and_a_code_in_one_lost_answer(panel_world, maria):
    """The cookie is renewed and then replaced; the first one still leads to the last."""
    other = await panel_world.signed_in_browser()
    old = await panel_world.signed_in_browser()
    for _ in range(5):
        panel_world.identity_world.clock.passes(720)
        await panel_world.records.authenticate(await panel_world.again(other))
        seated = await panel_world.records.authenticate(await panel_world.again(old))
    assert seated.browser.cookie != old.cookie

    new = await panel_world.records.rotate(seated.browser)
    lost = await panel_world.records.authenticate(await panel_world.again(old))
    await panel_world.records.authenticate(await panel_world.again(new))
    late = await panel_world.records.authenticate(await panel_world.again(old))

    assert (lost.browser.cookie, lost.browser.answer_lost) == (new.cookie, True)
    assert late.browser.reads_only
    assert await panel_world.records.find(other.cookie.value) is not None


async def test_a_code_waits_for_a_refresh_of_the_tokens(panel_world, maria):
    """Else one of the two is lost, and the next refresh sends a token that was used."""
    old = await panel_world.signed_in_browser()
    store, now = panel_world.context.store, panel_world.identity_world.clock.now()
    assert await store.lease(old.panel.id_hash, 0, now, now + timedelta(seconds=15))
    refreshed = replace(old.panel, access_ends_at=now + timedelta(minutes=20))

    waiting = asyncio.create_task(panel_world.records.rotate(old))
    await settle()
    assert await store.save(refreshed, 0)
    new = await waiting

    assert new.panel.access_ends_at == refreshed.access_ends_at


async def test_a_session_that_was_ended_elsewhere_is_no_seat(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(1)
    await panel_world.identity_world.services.users.end_sessions(CLI, maria.id)

    assert await panel_world.records.signed_in(browser) is None
    with refused(SESSION_REQUIRED):
        await panel_world.records.authenticate(browser)
    assert await panel_world.records.find(browser.cookie.value) is None


async def test_an_idle_session_is_ended_with_its_sign_in(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(900)

    assert await panel_world.records.find(browser.cookie.value) is None
    assert (
        await panel_world.identity_world.store.identity.sessions.of(
            maria.id, panel_world.identity_world.clock.now()
        )
        == []
    )
    assert ("session_event", "idle_end") in panel_world.counted


async def test_the_idle_time_slides_with_calls(panel_world, maria):
    browser = await panel_world.signed_in_browser()

    for _ in range(5):
        panel_world.identity_world.clock.passes(400)
        browser = await panel_world.again(browser)
        browser = (await panel_world.records.authenticate(browser)).browser

    assert await panel_world.records.find(browser.cookie.value) is not None


async def test_a_renewed_cookie_leaves_the_old_one_half_a_minute(panel_world, maria):
    """It gives the new one, whose answer may be lost; its end ends nothing."""
    old = await panel_world.signed_in_browser()
    for _ in range(4):
        panel_world.identity_world.clock.passes(890)
        await panel_world.records.authenticate(await panel_world.again(old))
    panel_world.identity_world.clock.passes(40)

    new = (await panel_world.records.authenticate(await panel_world.again(old))).browser

    assert new.cookie != old.cookie
    late = await panel_world.records.authenticate(await panel_world.again(old))
    assert (late.browser.cookie, late.browser.answer_lost) == (new.cookie, False)
    check_token(old.panel.csrf, late.browser)
    assert (await panel_world.records.signed_in(late.browser)) is not None
    panel_world.identity_world.clock.passes(30)
    assert await panel_world.records.find(old.cookie.value) is None
    assert (
        await panel_world.records.authenticate(await panel_world.again(new))
    ).person.email == EMAIL


async def test_a_store_refusal_of_another_kind_passes(panel_world, maria):
    """Only a token that is not valid ends a session."""
    browser = await panel_world.signed_in_browser()

    class Busy:
        async def authenticate(self, _token):
            raise ServiceError(PASSWORD_WRONG)

        async def logout(self, _caller):
            """Not asked."""

    records = replace(panel_world.records, context=replace(panel_world.context, sessions=Busy()))
    with refused(PASSWORD_WRONG):
        await records.authenticate(browser)

    assert await panel_world.again(browser) == browser
