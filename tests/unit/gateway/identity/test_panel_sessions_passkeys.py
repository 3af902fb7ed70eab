"""Passkeys in browsers: each gain of privilege gives a new cookie."""

from __future__ import annotations

from gateway.core.browsers import Browser, PanelState
from gateway.core.user_access import check_fresh_factor
from tests.world.authenticator import Authenticator
from tests.world.identity import ELSEWHERE, EMAIL, HOME, PASSWORD, refusal_of
from tests.world.panel import PanelWorld
from tests.world.passkeys import register, used

REFUSED = ("passkey_invalid", "passkey")


async def enrolled(panel_world: PanelWorld) -> Authenticator:
    """Register a passkey, the first second factor."""
    authenticator = Authenticator()
    identity_world = panel_world.identity_world
    caller = (await identity_world.sign_in()).person
    await register(identity_world.services, caller, authenticator)
    identity_world.clock.passes(1)
    return authenticator


async def entered(
    panel_world: PanelWorld, authenticator: Authenticator, before: Browser | None = None
) -> Browser:
    """Sign a browser in by a passkey."""
    browser = before or panel_world.sessions.begin()
    answer = authenticator.assertion(await panel_world.sessions.passkey_options(browser))
    return (await panel_world.sessions.login_by_passkey(browser, answer, HOME)).browser


async def test_a_passkey_signs_a_browser_in_under_a_new_cookie(panel_world: PanelWorld, maria):
    authenticator, before = await enrolled(panel_world), panel_world.sessions.begin()

    browser = await entered(panel_world, authenticator, before)

    assert browser.panel.state is PanelState.FULL
    assert browser.cookie.id_hash != before.cookie.id_hash
    assert browser.panel.csrf != before.panel.csrf
    who = await panel_world.sessions.signed_in(browser)
    assert who is not None
    check_fresh_factor(who, panel_world.identity_world.clock.now())


async def test_an_answer_for_another_browser_is_refused(panel_world: PanelWorld, maria):
    """A page of an attacker's browser asked for it."""
    authenticator, sessions = await enrolled(panel_world), panel_world.sessions
    theirs, ours = sessions.begin(), sessions.begin()
    answer = authenticator.assertion(await sessions.passkey_options(theirs))

    assert await refusal_of(sessions.login_by_passkey(ours, answer, HOME)) == REFUSED


async def test_a_sign_in_by_passkey_ends_the_one_before(panel_world: PanelWorld, maria):
    authenticator = await enrolled(panel_world)
    first = await entered(panel_world, authenticator)
    before = await panel_world.sessions.signed_in(first)

    second = await entered(panel_world, authenticator, first)

    assert before is not None
    assert await panel_world.sessions.find(first.cookie.value) is None
    live = await panel_world.identity_world.services.sessions.list(before)
    assert before.session_id not in {each.id for each in live}
    assert await panel_world.sessions.signed_in(second)


async def test_after_the_password_the_passkeys_of_the_user_are_named(
    panel_world: PanelWorld, maria
):
    authenticator, sessions = await enrolled(panel_world), panel_world.sessions
    pending = (await sessions.login(sessions.begin(), EMAIL, PASSWORD, HOME)).browser

    options = await sessions.passkey_options(pending)
    strangers = await sessions.passkey_options(sessions.begin())

    assert [each["id"] for each in options["allowCredentials"]]
    assert strangers["allowCredentials"] == []
    done = await sessions.login_by_passkey(pending, authenticator.assertion(options), HOME)
    assert done.browser.panel.state is PanelState.FULL


async def test_a_fresh_passkey_counts_with_its_new_cookie_alone(panel_world: PanelWorld, maria):
    """A copy of the old cookie gains nothing."""
    authenticator = await enrolled(panel_world)
    browser = await entered(panel_world, authenticator)
    identity_world = panel_world.identity_world
    identity_world.clock.passes(400)
    who = await panel_world.sessions.signed_in(browser)
    assert who is not None

    answer = await used(identity_world.services, who, authenticator)
    view = await panel_world.sessions.step_up_by_passkey(browser, who, answer, HOME)

    assert view.browser.cookie.id_hash != browser.cookie.id_hash
    fresh = await panel_world.sessions.signed_in(view.browser)
    assert fresh is not None
    check_fresh_factor(fresh, identity_world.clock.now())


async def test_a_passkey_confirms_another_network(panel_world: PanelWorld, maria):
    authenticator = await enrolled(panel_world)
    browser = await entered(panel_world, authenticator)
    who = await panel_world.sessions.signed_in(browser)
    assert who is not None
    answer = await used(panel_world.identity_world.services, who, authenticator)

    view = await panel_world.sessions.confirm_network(browser, answer, ELSEWHERE)

    assert view.signed_in is not None
    assert view.signed_in.person.is_known_at(ELSEWHERE.address)
