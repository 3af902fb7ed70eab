"""Tokens refreshed behind the scenes: once, however many calls there are."""

from __future__ import annotations

import asyncio

import pytest

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from tests.world.gateway.identity_api import ApiClient, BrowserClient, api_client_on, at_once
from tests.world.waiting import settle

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])
PATH = "/panel/auth/sessions"


def refreshes(api_client: ApiClient) -> list[str]:
    """Return what was counted of refreshing."""
    return [label for event, label in api_client.counted if event == "token_refresh"]


@BOTH
async def test_of_twenty_calls_at_once_one_refreshes(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(541)

    answers = await at_once(*(browser.get(PATH) for _ in range(20)))

    assert {each.status for each in answers} == {200}
    assert refreshes(api_client).count("ok") == 1
    assert set(refreshes(api_client)) <= {"ok", "coalesced"}


@BOTH
async def test_two_nodes_refresh_once(api_client: ApiClient, store: Store, maria):
    """The lease in the store decides which."""
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(541)
    async with api_client_on(store, api_client.clock) as other:
        there = BrowserClient(other, browser.cookie, browser.csrf)

        answers = await at_once(*(each.get(PATH) for each in (browser, there) for _ in range(10)))

        assert {each.status for each in answers} == {200}
        assert (refreshes(api_client) + refreshes(other)).count("ok") == 1


async def test_a_token_that_is_over_is_refreshed_too(api_client: ApiClient, maria):
    """Waiting for it, not with the old one."""
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(601)

    answers = await at_once(*(browser.get(PATH) for _ in range(5)))

    assert {each.status for each in answers} == {200}
    assert refreshes(api_client).count("ok") == 1


async def test_before_that_nothing_is_refreshed(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(530)

    await browser.get(PATH)

    assert refreshes(api_client) == []


async def test_a_refresh_that_is_refused_ends_the_session(
    api_client: ApiClient, store: Store, maria
):
    """Else the page says signed in while every call fails."""
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(541)
    (session,) = await store.identity.sessions.of(maria.id, api_client.clock.now())
    await store.identity.sessions.end(session.id, api_client.clock.now(), "by_test", None)

    answer = await browser.get(PATH)

    assert answer.verdict == (401, "SESSION_REQUIRED")
    assert refreshes(api_client) == ["invalid_grant"]
    assert (await BrowserClient(api_client, browser.cookie).load_session())[
        "authenticated"
    ] is False
    assert await store.identity.panels.of(maria.id) == []


async def test_a_store_that_is_silent_is_borne_while_the_token_lives(
    api_client: ApiClient, maria, monkeypatch: pytest.MonkeyPatch
):
    """Then 503, and no session is lost by it."""
    browser = await api_client.signed_in_browser()
    sessions = type(api_client.identity_world.store.identity.sessions)

    async def silent(*_arguments: object) -> None:
        raise StoreUnavailable

    api_client.clock.passes(541)
    with monkeypatch.context() as patched:
        patched.setattr(sessions, "refresh_token", silent)
        borne = await browser.get(PATH)
        api_client.clock.passes(60)
        away = await browser.get(PATH)
    api_client.clock.passes(16)
    back = await browser.get(PATH)

    assert borne.status == 200
    assert away.verdict == (503, "SVC.SYS.002")
    assert back.status == 200


async def test_a_caller_that_goes_away_takes_no_refresh_with_it(api_client: ApiClient, maria):
    """The pair is kept for the next call."""
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(601)
    gone = asyncio.create_task(browser.get(PATH))
    await settle()
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)

    assert (await browser.get(PATH)).status == 200
    assert refreshes(api_client).count("ok") == 1
