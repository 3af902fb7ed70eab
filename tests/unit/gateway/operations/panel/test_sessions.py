"""The panel's sessions, below HTTP."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.identity.errors import MFA_EXPIRED, PASSWORD_WRONG, SESSION_REQUIRED
from gateway.domain.identity.panel_sessions import PanelState
from gateway.domain.kernel.errors import ServiceError
from tests.unit.refusals import refused
from tests.world.identity import EMAIL, HOME, PASSWORD


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


async def test_a_rise_voids_the_old_cookie_and_keeps_the_tokens(panel_world, maria):
    old = await panel_world.signed_in_browser()

    new = await panel_world.records.rotate(old)

    assert await panel_world.records.find(old.cookie.value) is None
    assert new.panel.csrf != old.panel.csrf
    assert (await panel_world.records.authenticate(new)).person.email == EMAIL
    with refused(SESSION_REQUIRED):
        await panel_world.records.rotate(old)


async def test_a_cookie_renewed_a_moment_ago_does_not_outlive_a_rise(panel_world, maria):
    """And nobody else's is touched, nor another browser of the same person."""
    other = await panel_world.signed_in_browser()
    old = await panel_world.signed_in_browser()
    for _ in range(5):
        panel_world.identity_world.clock.passes(720)
        await panel_world.records.authenticate(await panel_world.again(other))
        seated = await panel_world.records.authenticate(await panel_world.again(old))
    assert seated.browser.cookie != old.cookie

    new = await panel_world.records.rotate(seated.browser)

    assert await panel_world.records.find(old.cookie.value) is None
    assert (await panel_world.records.authenticate(new)).person.email == EMAIL
    assert await panel_world.records.find(other.cookie.value) is not None


async def test_a_session_that_was_ended_elsewhere_is_no_seat(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(1)
    await panel_world.identity_world.services.users.end_sessions("cli", maria.id)

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
    """Whose end ends nothing."""
    old = await panel_world.signed_in_browser()
    for _ in range(4):
        panel_world.identity_world.clock.passes(890)
        await panel_world.records.authenticate(await panel_world.again(old))
    panel_world.identity_world.clock.passes(40)

    new = (await panel_world.records.authenticate(await panel_world.again(old))).browser

    assert new.cookie != old.cookie
    late = await panel_world.records.authenticate(await panel_world.again(old))
    assert late.browser.cookie == old.cookie
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
