"""The panel's sessions, below HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.core import errors
from gateway.core.browsers import Browser, PanelState
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.storage import StoreUnavailable
from gateway.core.user_access import check_fresh_factor
from gateway.core.user_errors import (
    CSRF_FAILED,
    MFA_EXPIRED,
    PASSWORD_WRONG,
    REFRESH_INVALID,
    SESSION_REQUIRED,
)
from gateway.identity.model import CompaniesBody
from gateway.identity.panel_sessions import PanelSessions
from gateway.identity.sessions import OwnSessions, TokenRefresh
from policies.traffic.csrf import check_token
from tests.unit.refusals import refused
from tests.world.identity import ELSEWHERE, EMAIL, HOME, PASSWORD
from tests.world.people import CLI, COMPANY, OTHER_COMPANY
from tests.world.standing import NOON
from tests.world.stores.samples import event
from tests.world.waiting import settle, until


async def with_factor(panel_world) -> Browser:
    """Sign in with a code, which counts as just given."""
    await panel_world.identity_world.enrol()
    return await panel_world.signed_in_browser()


async def test_a_new_anonymous_session_has_a_csrf_token_and_no_row(panel_world):
    browser = panel_world.sessions.begin()

    found = await panel_world.again(browser)

    assert found == browser
    assert found.panel.state is PanelState.ANONYMOUS
    assert len(found.panel.csrf) == 43
    assert await panel_world.sessions.signed_in(found) is None
    # a stranger's look leaves no row
    assert await panel_world.sessions.store.find(browser.cookie.id_hash) is None


async def test_an_anonymous_session_expires_after_fifteen_minutes(panel_world):
    browser = panel_world.sessions.begin()

    panel_world.identity_world.clock.passes(899)
    assert await panel_world.again(browser) == browser
    panel_world.identity_world.clock.passes(1)
    assert await panel_world.sessions.find(browser.cookie.value) is None


async def test_a_wrong_password_changes_nothing(panel_world, maria):
    browser = panel_world.sessions.begin()

    with refused(PASSWORD_WRONG):
        await panel_world.sessions.login(browser, EMAIL, "wrong wrong wrong", HOME)

    assert await panel_world.again(browser) == browser


async def test_a_panel_sign_in_is_authenticated_by_its_cookie(panel_world, maria):
    browser = await panel_world.signed_in_browser()

    seated = await panel_world.sessions.authenticate(await panel_world.again(browser))
    (session,) = await panel_world.identity_world.services.sessions.list(seated.person)

    assert seated.person.email == EMAIL
    assert session.panel is True
    assert session.id == browser.panel.session_id
    assert ("session_event", "created") in panel_world.counted


async def test_a_code_is_accepted_only_after_a_password(panel_world, maria):
    await panel_world.identity_world.enrol()
    browser = panel_world.sessions.begin()

    with refused(MFA_EXPIRED):
        await panel_world.sessions.submit_code(browser, panel_world.identity_world.code(), HOME)
    pending = (await panel_world.sessions.login(browser, EMAIL, PASSWORD, HOME)).browser

    assert pending.panel.state is PanelState.MFA_PENDING
    assert (pending.panel.user_id, pending.panel.session_id) == ("", "")
    code = panel_world.identity_world.code()
    full = (await panel_world.sessions.submit_code(pending, code, HOME)).browser
    assert full.panel.state is PanelState.FULL


async def test_a_session_from_another_network_is_refused_and_unchanged(panel_world, maria):
    """It is neither extended nor renewed, hides its user, and continues on its own network."""
    await panel_world.identity_world.enrol()
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(60)
    before = await panel_world.again(browser)

    with refused(SESSION_REQUIRED) as refusal:
        await panel_world.sessions.authenticate(before, address=ELSEWHERE.address)
    view = await panel_world.sessions.visit(before, ELSEWHERE)

    assert refusal.value.reason == "network_new"
    assert (view.signed_in, view.is_pending, view.new_cookie) == (None, True, False)
    assert await panel_world.again(browser) == before
    assert await panel_world.sessions.authenticate(before, address=HOME.address)


async def test_a_code_adds_another_network_and_renews_the_cookie(panel_world, maria):
    await panel_world.identity_world.enrol()
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(30)

    code = panel_world.identity_world.code()
    view = await panel_world.sessions.confirm_network(browser, code, ELSEWHERE)

    assert view.new_cookie
    assert view.browser.cookie.value != browser.cookie.value
    seated = await panel_world.sessions.authenticate(
        await panel_world.again(view.browser), address=ELSEWHERE.address
    )
    assert seated.person.email == EMAIL


async def test_without_a_factor_another_network_requires_a_new_sign_in(panel_world, maria):
    """The session itself continues on its own network."""
    browser = await panel_world.signed_in_browser()

    view = await panel_world.sessions.visit(browser, ELSEWHERE)

    assert (view.signed_in, view.is_pending, view.new_cookie) == (None, False, True)
    assert await panel_world.sessions.authenticate(browser, address=HOME.address)


async def test_a_cookie_with_a_wrong_secret_is_refused(panel_world, maria):
    """The session of the correct cookie continues."""
    browser = await panel_world.signed_in_browser()
    name, _, _ = browser.cookie.value.partition(".")

    assert await panel_world.sessions.find(f"{name}.AAAAAAAAAAAAAAAAAAAAAA") is None
    assert await panel_world.again(browser) == browser


async def test_a_failed_sign_out_keeps_the_session(panel_world, maria, monkeypatch):
    browser = await panel_world.signed_in_browser()

    async def fails(*_arguments):
        raise RuntimeError

    monkeypatch.setattr(type(panel_world.identity_world.store.identity.sessions), "end", fails)
    with pytest.raises(RuntimeError):
        await panel_world.sessions.logout(browser)

    assert await panel_world.again(browser) == browser


async def test_after_a_code_the_old_cookie_only_reads_and_then_expires(panel_world, maria):
    """Requests under way may read; the browser has the new cookie."""
    old = await panel_world.signed_in_browser()

    new = await panel_world.sessions.rotate(old)
    seated = await panel_world.sessions.authenticate(new)
    late = await panel_world.sessions.authenticate(await panel_world.again(old))

    assert seated.person.email == EMAIL
    assert new.panel.csrf != old.panel.csrf
    assert (late.browser.cookie, late.browser.reads_only) == (old.cookie, True)
    with refused(SESSION_REQUIRED):
        check_token(late.browser.panel.csrf, late.browser)
    with refused(SESSION_REQUIRED):
        await panel_world.sessions.rotate(old)
    panel_world.identity_world.clock.passes(30)
    assert await panel_world.sessions.find(old.cookie.value) is None
    assert (await panel_world.sessions.authenticate(await panel_world.again(new))).person == (
        seated.person
    )


async def test_a_lost_answer_signs_no_user_out(panel_world, maria):
    """The old cookie always leads to the same new cookie, without a fresh factor."""
    old = await with_factor(panel_world)

    new = await panel_world.sessions.rotate(old)
    for _ in range(3):
        seated = await panel_world.sessions.authenticate(await panel_world.again(old))
        assert seated.browser.cookie == new.cookie
        assert seated.person.factor_at is None

    with refused(CSRF_FAILED) as refusal:
        check_token(old.panel.csrf, seated.browser)
    assert refusal.value.reason == "answer_lost"
    check_token(new.panel.csrf, seated.browser)
    again = await panel_world.sessions.authenticate(await panel_world.again(new))
    assert again.person.factor_at is None
    assert ("session_event", "recovered") in panel_world.counted


async def test_a_fresh_factor_is_valid_with_the_new_cookie_alone(
    panel_world, maria, monkeypatch: pytest.MonkeyPatch
):
    """Neither before the new cookie is stored, nor for a call under way."""
    old, during = await with_factor(panel_world), []
    panel_world.identity_world.clock.passes(301)
    before, rotate = await panel_world.again(old), PanelSessions.rotate

    async def meanwhile(sessions: PanelSessions, browser: Browser) -> Browser:
        during.append((await sessions.authenticate(await panel_world.again(old))).person)
        during.append(await sessions.signed_in(old))
        return await rotate(sessions, browser)

    monkeypatch.setattr(PanelSessions, "rotate", meanwhile)
    caller = await panel_world.sessions.signed_in(old)
    code = panel_world.identity_world.code()
    view = await panel_world.sessions.step_up(old, caller, code, HOME)
    late = await panel_world.sessions.authenticate(before)

    assert [each.factor_at for each in (*during, late.person)] == [None] * 3
    now = panel_world.identity_world.clock.now()
    check_fresh_factor(view.signed_in.person, now)
    seated = await panel_world.sessions.authenticate(await panel_world.again(view.browser))
    check_fresh_factor(seated.person, now)


async def test_a_cookie_renewed_during_a_step_up_has_no_fresh_factor(
    panel_world, maria, monkeypatch: pytest.MonkeyPatch
):
    """A renewal of the old cookie at that moment has no newer proof than it."""
    old, renewed = await with_factor(panel_world), []
    for _ in range(4):
        panel_world.identity_world.clock.passes(890)
        await panel_world.sessions.authenticate(await panel_world.again(old))
    panel_world.identity_world.clock.passes(40)
    rotate = PanelSessions.rotate

    async def meanwhile(sessions: PanelSessions, browser: Browser) -> Browser:
        renewed.append((await sessions.authenticate(await panel_world.again(old))).browser)
        return await rotate(sessions, browser)

    monkeypatch.setattr(PanelSessions, "rotate", meanwhile)
    caller = await panel_world.sessions.signed_in(old)
    code = panel_world.identity_world.code()
    with refused(SESSION_REQUIRED):
        await panel_world.sessions.step_up(old, caller, code, HOME)
    seated = await panel_world.sessions.authenticate(await panel_world.again(renewed[0]))

    assert renewed[0].cookie != old.cookie
    assert seated.person.factor_at is None


async def test_a_timer_s_request_renews_no_cookie_and_keeps_the_factor(panel_world, maria):
    old = await with_factor(panel_world)
    new = await panel_world.sessions.rotate(old)

    asked = await panel_world.sessions.authenticate(await panel_world.again(old), acts=False)
    seated = await panel_world.sessions.authenticate(await panel_world.again(new))

    assert (asked.browser.cookie, asked.browser.reads_only) == (old.cookie, True)
    assert seated.person.factor_at is not None


async def test_a_replaced_cookie_never_outlives_its_session(panel_world, maria):
    old = await panel_world.signed_in_browser()
    left = old.panel.ends_at - panel_world.identity_world.clock.now()
    while left.total_seconds() > 800:
        panel_world.identity_world.clock.passes(700)
        left -= timedelta(seconds=700)
        old = (await panel_world.sessions.authenticate(await panel_world.again(old))).browser
    panel_world.identity_world.clock.passes(left.total_seconds() - 10)

    await panel_world.sessions.rotate(await panel_world.again(old))
    panel_world.identity_world.clock.passes(10)

    assert await panel_world.sessions.find(old.cookie.value) is None


@pytest.mark.parametrize("delivered", [False, True])
async def test_signing_out_ends_the_replaced_cookie_too(panel_world, maria, delivered: bool):
    """With either cookie."""
    old = await panel_world.signed_in_browser()
    new = await panel_world.sessions.rotate(old)
    if delivered:
        await panel_world.sessions.authenticate(new)

    await panel_world.sessions.logout(await panel_world.again(new if delivered else old))

    for each in (old, new):
        found = await panel_world.sessions.find(each.cookie.value)
        if found is not None:
            with refused(SESSION_REQUIRED):
                await panel_world.sessions.authenticate(found)


async def test_a_lost_answer_with_a_renewal_and_a_code_keeps_the_session(panel_world, maria):
    """The cookie is renewed and then replaced; the first one still leads to the last."""
    other = await panel_world.signed_in_browser()
    old = await panel_world.signed_in_browser()
    for _ in range(5):
        panel_world.identity_world.clock.passes(720)
        await panel_world.sessions.authenticate(await panel_world.again(other))
        seated = await panel_world.sessions.authenticate(await panel_world.again(old))
    assert seated.browser.cookie != old.cookie

    new = await panel_world.sessions.rotate(seated.browser)
    lost = await panel_world.sessions.authenticate(await panel_world.again(old))
    await panel_world.sessions.authenticate(await panel_world.again(new))
    late = await panel_world.sessions.authenticate(await panel_world.again(old))

    assert (lost.browser.cookie, lost.browser.answer_lost) == (new.cookie, True)
    assert late.browser.reads_only
    assert await panel_world.sessions.find(other.cookie.value) is not None


async def test_a_code_waits_for_a_concurrent_token_refresh(panel_world, maria):
    """Otherwise one of the two is lost, and the next refresh sends a used token."""
    old = await panel_world.signed_in_browser()
    store, now = panel_world.sessions.store, panel_world.identity_world.clock.now()
    assert await store.lease(old.panel.id_hash, 0, now, now + timedelta(seconds=15))
    refreshed = replace(old.panel, access_ends_at=now + timedelta(minutes=20))

    waiting = asyncio.create_task(panel_world.sessions.rotate(old))
    await settle()
    assert await store.save(refreshed, 0)
    new = await waiting

    assert new.panel.access_ends_at == refreshed.access_ends_at


async def test_a_session_ended_elsewhere_is_signed_out(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(1)
    await panel_world.identity_world.services.users.end_sessions(CLI, maria.id)

    assert await panel_world.sessions.signed_in(browser) is None
    with refused(SESSION_REQUIRED):
        await panel_world.sessions.authenticate(browser)
    assert await panel_world.sessions.find(browser.cookie.value) is None


async def test_an_idle_session_ends_with_its_sign_in(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(900)

    assert await panel_world.sessions.find(browser.cookie.value) is None
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
        browser = (await panel_world.sessions.authenticate(browser)).browser

    assert await panel_world.sessions.find(browser.cookie.value) is not None


async def test_after_a_renewal_the_old_cookie_is_valid_for_thirty_seconds(panel_world, maria):
    """It returns the new one, whose answer may be lost; when it expires the session continues."""
    old = await panel_world.signed_in_browser()
    for _ in range(4):
        panel_world.identity_world.clock.passes(890)
        await panel_world.sessions.authenticate(await panel_world.again(old))
    panel_world.identity_world.clock.passes(40)

    new = (await panel_world.sessions.authenticate(await panel_world.again(old))).browser

    assert new.cookie != old.cookie
    late = await panel_world.sessions.authenticate(await panel_world.again(old))
    assert (late.browser.cookie, late.browser.answer_lost) == (new.cookie, False)
    check_token(old.panel.csrf, late.browser)
    assert (await panel_world.sessions.signed_in(late.browser)) is not None
    panel_world.identity_world.clock.passes(30)
    assert await panel_world.sessions.find(old.cookie.value) is None
    assert (
        await panel_world.sessions.authenticate(await panel_world.again(new))
    ).person.email == EMAIL


async def test_another_error_during_authentication_is_passed_on(
    panel_world, maria, monkeypatch: pytest.MonkeyPatch
):
    """Only an invalid token ends a session."""
    browser = await panel_world.signed_in_browser()

    async def busy(_sessions: OwnSessions, _token: str) -> SignedInUser:
        raise ServiceError(PASSWORD_WRONG)

    monkeypatch.setattr(OwnSessions, "authenticate", busy)

    with refused(PASSWORD_WRONG):
        await panel_world.sessions.authenticate(browser)

    assert await panel_world.again(browser) == browser


LONG = timedelta(minutes=2)


class Slow:
    """Refreshes or fails on demand."""

    def __init__(self, inner, problem: Exception | None = None) -> None:
        self.inner = inner
        self.problem = problem
        self.go = asyncio.Event()
        self.calls = 0

    async def exchange(self, token: str):
        self.calls += 1
        await self.go.wait()
        if self.problem:
            raise self.problem
        return await self.inner(token)


@pytest.fixture
def with_slow(panel_world, monkeypatch: pytest.MonkeyPatch):
    """Refresh by something slow; no limit is short unless a test asks for it."""
    exchange = panel_world.identity_world.services.tokens.exchange

    def made(problem: Exception | None = None, **settings: timedelta) -> tuple[PanelSessions, Slow]:
        settings = {"wait_timeout": LONG, "refresh_timeout": LONG, **settings}
        slow, sessions = Slow(exchange, problem), panel_world.sessions
        monkeypatch.setattr(TokenRefresh, "exchange", slow.exchange)
        return replace(sessions, settings=replace(sessions.settings, **settings)), slow

    return made


async def due(panel_world):
    """A browser whose token has a minute left."""
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(541)
    return await panel_world.again(browser)


async def test_a_token_with_time_left_is_not_refreshed(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(540)

    assert await panel_world.sessions.fresh(browser) is browser


async def test_an_expiring_token_is_refreshed_and_stored(panel_world, maria):
    browser = await due(panel_world)

    fresh = await panel_world.sessions.fresh(browser)

    assert fresh.panel.version == browser.panel.version + 1
    assert fresh.panel.lease_until is None
    assert fresh.panel.access_ends_at == panel_world.identity_world.clock.now() + timedelta(
        minutes=10
    )
    assert await panel_world.again(browser) == fresh


async def test_concurrent_calls_share_one_refresh(panel_world, maria, with_slow):
    browser = await due(panel_world)
    sessions, slow = with_slow()
    waiting = [asyncio.create_task(sessions.fresh(browser)) for _ in range(20)]
    await until(lambda: slow.calls)

    slow.go.set()
    found = await asyncio.gather(*waiting)

    assert slow.calls == 1
    assert len({each.panel.version for each in found}) == 1
    assert panel_world.counted.count(("token_refresh", "coalesced")) == 19


async def test_a_cancelled_caller_does_not_end_the_refresh(panel_world, maria, with_slow):
    browser = await due(panel_world)
    sessions, slow = with_slow()
    first = asyncio.create_task(sessions.fresh(browser))
    await until(lambda: slow.calls)

    first.cancel()
    slow.go.set()
    fresh = await sessions.fresh(browser)

    assert (slow.calls, fresh.panel.version) == (1, 1)


async def test_a_refresh_leased_by_another_process_is_not_repeated(panel_world, maria):
    """The old token is used until it expires."""
    browser = await due(panel_world)
    now = panel_world.identity_world.clock.now()
    await panel_world.sessions.store.lease(
        browser.panel.id_hash, 0, now, now + timedelta(seconds=15)
    )

    found = await panel_world.sessions.fresh(browser)

    assert found.panel.access_ends_at == browser.panel.access_ends_at
    assert panel_world.counted[-1] == ("token_refresh", "coalesced")


async def test_with_an_expired_token_a_call_waits_for_the_other_process(
    panel_world, maria, with_slow
):
    browser = await due(panel_world)
    panel_world.identity_world.clock.passes(60)
    other, slow = with_slow()
    waits = replace(other)
    flying = asyncio.create_task(other.fresh(browser))
    await until(lambda: slow.calls)
    waiting = asyncio.create_task(waits.fresh(browser))
    await until(lambda: panel_world.counted.count(("token_refresh", "coalesced")))

    slow.go.set()
    found = await asyncio.gather(flying, waiting)

    assert found[0].panel.version == found[1].panel.version == 1
    assert slow.calls == 1


@pytest.mark.parametrize("lives", [True, False])
async def test_a_slow_refresh_is_tolerated_while_the_token_is_valid(
    panel_world, maria, with_slow, lives: bool
):
    browser = await due(panel_world)
    panel_world.identity_world.clock.passes(0 if lives else 60)
    short = timedelta(milliseconds=30)
    sessions, _slow = with_slow(refresh_timeout=short)

    if lives:
        assert (await sessions.fresh(browser)).panel.version == 0
    else:
        with refused(errors.AUTH_UNAVAILABLE):
            await sessions.fresh(browser)
    assert panel_world.counted[-1] == ("token_refresh", "error")


async def test_waiting_for_a_refresh_times_out(panel_world, maria, with_slow):
    browser = await due(panel_world)
    panel_world.identity_world.clock.passes(60)
    sessions, _slow = with_slow(wait_timeout=timedelta(milliseconds=30))

    with refused(errors.AUTH_UNAVAILABLE):
        await sessions.fresh(browser)
    await sessions.close()


async def test_a_silent_store_is_tolerated_while_the_token_is_valid(panel_world, maria, with_slow):
    browser = await due(panel_world)
    sessions, slow = with_slow(StoreUnavailable())
    slow.go.set()

    assert (await sessions.fresh(browser)).panel.version == 0


async def test_a_refused_token_ends_the_session(panel_world, maria, with_slow):
    browser = await due(panel_world)
    sessions, slow = with_slow(ServiceError(REFRESH_INVALID, "used"))
    slow.go.set()

    with refused(SESSION_REQUIRED):
        await sessions.fresh(browser)

    assert await panel_world.sessions.find(browser.cookie.value) is None
    assert panel_world.counted[-1] == ("token_refresh", "invalid_grant")


async def test_a_session_removed_during_a_refresh_is_over(panel_world, maria, with_slow):
    browser = await due(panel_world)
    sessions, slow = with_slow()
    flying = asyncio.create_task(sessions.fresh(browser))
    await until(lambda: slow.calls)
    await panel_world.sessions.store.remove(browser.panel.id_hash)

    slow.go.set()

    with refused(SESSION_REQUIRED):
        await flying
    with refused(SESSION_REQUIRED):
        await panel_world.sessions.fresh(browser)


async def test_a_token_that_lasts_to_the_session_s_end_is_not_refreshed(panel_world, maria):
    """A new one would not last longer."""
    browser = await panel_world.signed_in_browser()
    panel = replace(browser.panel, access_ends_at=browser.panel.ends_at)
    panel_world.identity_world.clock.passes(8 * 3600 - 10)

    assert await panel_world.sessions.fresh(replace(browser, panel=panel)) == replace(
        browser, panel=panel
    )


async def test_closing_cancels_refreshes_under_way(panel_world, maria, with_slow):
    browser = await due(panel_world)
    sessions, slow = with_slow()
    flying = asyncio.create_task(sessions.fresh(browser))
    await until(lambda: slow.calls)

    await sessions.close()

    with pytest.raises(asyncio.CancelledError):
        await flying
    assert slow.calls == 1


async def test_a_visit_without_a_cookie_starts_an_anonymous_session(panel_world):
    view = await panel_world.sessions.visit(None, HOME)

    assert view.new_cookie is True
    assert (view.signed_in, view.is_pending) == (None, False)
    assert await panel_world.again(view.browser) == view.browser


async def test_an_anonymous_session_keeps_its_cookie(panel_world):
    browser = panel_world.sessions.begin()

    view = await panel_world.sessions.visit(browser, HOME)

    assert (view.new_cookie, view.browser) == (False, browser)


async def test_a_pending_second_factor_shows_no_user(panel_world, maria):
    await panel_world.identity_world.enrol()
    browser = panel_world.sessions.begin()

    view = await panel_world.sessions.login(browser, EMAIL, PASSWORD, HOME)

    assert (view.is_pending, view.signed_in, view.new_cookie) == (True, None, True)


async def test_the_only_company_of_a_user_is_shown(panel_world, maria):
    await panel_world.identity_world.services.users.set_companies(
        CLI, maria.id, CompaniesBody([COMPANY])
    )
    panel_world.identity_world.clock.passes(1)

    view = await panel_world.sessions.visit(await panel_world.signed_in_browser(), HOME)

    assert view.signed_in is not None
    assert view.signed_in.company is not None
    assert view.signed_in.company.id == COMPANY


async def test_no_company_is_shown_for_a_user_of_several(panel_world, maria):
    both, store = [COMPANY, OTHER_COMPANY], panel_world.identity_world.store
    await add_company(store.database, Company(OTHER_COMPANY, "Another", NOON, ""), event())
    await panel_world.identity_world.services.users.set_companies(
        CLI, maria.id, CompaniesBody(list(both))
    )
    panel_world.identity_world.clock.passes(1)

    view = await panel_world.sessions.visit(await panel_world.signed_in_browser(), HOME)

    assert view.signed_in is not None
    assert view.signed_in.company is None


async def test_a_visit_after_the_sign_in_ended_starts_an_anonymous_session(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(1)
    await panel_world.identity_world.services.users.end_sessions(CLI, maria.id)

    view = await panel_world.sessions.visit(browser, HOME)

    assert (view.signed_in, view.new_cookie) == (None, True)
    assert view.browser.cookie != browser.cookie


def test_the_refresh_lease_is_longer_than_its_timeouts(panel_world):
    """Otherwise two processes would refresh the same token."""
    settings = panel_world.sessions.settings

    assert settings.lease > settings.wait_timeout > settings.refresh_timeout
    assert settings.refresh_ahead > settings.overlap
