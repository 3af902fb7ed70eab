"""The panel's sessions, below HTTP."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.identity.errors import MFA_EXPIRED, PASSWORD_WRONG, SESSION_REQUIRED
from gateway.domain.identity.panel_sessions import PanelState
from gateway.domain.kernel.errors import ServiceError
from tests.unit.door import EMAIL, HOME, PASSWORD
from tests.unit.refusals import refused


async def test_a_browser_begins_with_a_token_and_nothing_else(hall):
    browser = await hall.records.begin(HOME)

    found = await hall.again(browser)

    assert found == browser
    assert found.panel.state is PanelState.ANONYMOUS
    assert len(found.panel.csrf) == 43
    assert await hall.records.signed_in(found) is None


async def test_a_wrong_password_changes_nothing(hall, maria):
    browser = await hall.records.begin(HOME)

    with refused(PASSWORD_WRONG):
        await hall.records.login(browser, EMAIL, "wrong wrong wrong", HOME)

    assert await hall.again(browser) == browser


async def test_a_sign_in_is_of_the_panel_and_known_by_its_cookie(hall, maria):
    browser = await hall.seated()

    seated = await hall.records.authenticate(await hall.again(browser))
    (session,) = await hall.door.services.sessions.list(seated.person)

    assert seated.person.email == EMAIL
    assert session.panel is True
    assert session.id == browser.panel.session_id
    assert ("session_event", "created") in hall.counted


async def test_two_logins_from_one_page_are_one(hall, maria):
    """The second finds the cookie used up; what it began is ended."""
    browser = await hall.records.begin(HOME)
    first = await hall.records.login(browser, EMAIL, PASSWORD, HOME)

    with refused(SESSION_REQUIRED):
        await hall.records.login(browser, EMAIL, PASSWORD, HOME)

    seated = await hall.records.authenticate(first)
    assert len(await hall.door.services.sessions.list(seated.person)) == 1


async def test_a_code_is_taken_where_one_was_asked_for(hall, maria):
    await hall.door.enrols()
    browser = await hall.records.begin(HOME)

    with refused(MFA_EXPIRED):
        await hall.records.submit_code(browser, hall.door.code(), HOME)
    pending = await hall.records.login(browser, EMAIL, PASSWORD, HOME)

    assert pending.panel.state is PanelState.MFA_PENDING
    assert (pending.panel.user_id, pending.panel.session_id) == ("", "")
    full = await hall.records.submit_code(pending, hall.door.code(), HOME)
    assert full.panel.state is PanelState.FULL


async def test_a_row_and_another_secret_are_nothing(hall, maria):
    """And the session of who has the right one goes on."""
    browser = await hall.seated()
    name, _, _ = browser.cookie.value.partition(".")

    assert await hall.records.find(f"{name}.AAAAAAAAAAAAAAAAAAAAAA") is None
    assert await hall.again(browser) == browser


async def test_signing_out_ends_the_sign_in_and_the_cookie(hall, maria):
    browser = await hall.seated()

    await hall.records.logout(browser)
    await hall.records.logout(browser)
    await hall.records.logout(None)

    assert await hall.records.find(browser.cookie.value) is None
    assert await hall.door.store.identity.sessions.of(maria.id, hall.door.clock.now()) == []
    assert hall.counted.count(("session_event", "logout")) == 1


async def test_a_store_that_fails_is_never_a_sign_out(hall, maria, monkeypatch):
    browser = await hall.seated()

    async def fails(*_arguments):
        raise RuntimeError

    monkeypatch.setattr(type(hall.door.store.identity.sessions), "end", fails)
    with pytest.raises(RuntimeError):
        await hall.records.logout(browser)

    assert await hall.again(browser) == browser


async def test_a_rise_voids_the_old_cookie_and_keeps_the_tokens(hall, maria):
    old = await hall.seated()

    new = await hall.records.rotate(old)

    assert await hall.records.find(old.cookie.value) is None
    assert new.panel.csrf != old.panel.csrf
    assert (await hall.records.authenticate(new)).person.email == EMAIL
    with refused(SESSION_REQUIRED):
        await hall.records.rotate(old)


async def test_a_cookie_renewed_a_moment_ago_does_not_outlive_a_rise(hall, maria):
    """And nobody else's is touched, nor another browser of the same person."""
    other = await hall.seated()
    old = await hall.seated()
    for _ in range(5):
        hall.door.clock.passes(720)
        await hall.records.authenticate(await hall.again(other))
        seated = await hall.records.authenticate(await hall.again(old))
    assert seated.browser.cookie != old.cookie

    new = await hall.records.rotate(seated.browser)

    assert await hall.records.find(old.cookie.value) is None
    assert (await hall.records.authenticate(new)).person.email == EMAIL
    assert await hall.records.find(other.cookie.value) is not None


async def test_a_session_that_was_ended_elsewhere_is_no_seat(hall, maria):
    browser = await hall.seated()
    hall.door.clock.passes(1)
    await hall.door.services.users.end_sessions("cli", maria.id)

    assert await hall.records.signed_in(browser) is None
    with refused(SESSION_REQUIRED):
        await hall.records.authenticate(browser)
    assert await hall.records.find(browser.cookie.value) is None


async def test_an_idle_session_is_ended_with_its_sign_in(hall, maria):
    browser = await hall.seated()
    hall.door.clock.passes(900)

    assert await hall.records.find(browser.cookie.value) is None
    assert await hall.door.store.identity.sessions.of(maria.id, hall.door.clock.now()) == []
    assert ("session_event", "idle_end") in hall.counted


async def test_the_idle_time_slides_with_calls(hall, maria):
    browser = await hall.seated()

    for _ in range(5):
        hall.door.clock.passes(400)
        browser = await hall.again(browser)
        browser = (await hall.records.authenticate(browser)).browser

    assert await hall.records.find(browser.cookie.value) is not None


async def test_a_renewed_cookie_leaves_the_old_one_half_a_minute(hall, maria):
    """Whose end ends nothing."""
    old = await hall.seated()
    for _ in range(4):
        hall.door.clock.passes(890)
        await hall.records.authenticate(await hall.again(old))
    hall.door.clock.passes(40)

    new = (await hall.records.authenticate(await hall.again(old))).browser

    assert new.cookie != old.cookie
    late = await hall.records.authenticate(await hall.again(old))
    assert late.browser.cookie == old.cookie
    assert (await hall.records.signed_in(late.browser)) is not None
    hall.door.clock.passes(30)
    assert await hall.records.find(old.cookie.value) is None
    assert (await hall.records.authenticate(await hall.again(new))).person.email == EMAIL


async def test_a_store_refusal_of_another_kind_passes(hall, maria):
    """Only a token that is not valid ends a session."""
    browser = await hall.seated()

    class Busy:
        async def authenticate(self, _token):
            raise ServiceError(PASSWORD_WRONG)

        async def logout(self, _caller):
            """Not asked."""

    records = replace(hall.records, context=replace(hall.context, sessions=Busy()))
    with refused(PASSWORD_WRONG):
        await records.authenticate(browser)

    assert await hall.again(browser) == browser
