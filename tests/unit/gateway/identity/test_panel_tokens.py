"""The panel's tokens."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.core import errors
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import REFRESH_INVALID, SESSION_REQUIRED
from gateway.identity.panel_tokens import PanelTokens
from tests.unit.refusals import refused
from tests.world.waiting import until

LONG = timedelta(minutes=2)


class Slow:
    """Refreshes when it is told to, or fails as it is told to."""

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
        return await self.inner.exchange(token)


def with_slow(
    panel_world, problem: Exception | None = None, **settings: timedelta
) -> tuple[PanelTokens, Slow]:
    """Refresh by something slow; no limit is short unless a test asks for it."""
    settings = {"wait_timeout": LONG, "refresh_timeout": LONG, **settings}
    slow = Slow(panel_world.identity_world.services.tokens, problem)
    context = replace(
        panel_world.context, tokens=slow, settings=replace(panel_world.context.settings, **settings)
    )
    return PanelTokens(context), slow


async def due(panel_world):
    """A browser whose token has a minute left."""
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(541)
    return await panel_world.again(browser)


async def test_a_token_with_time_left_stays(panel_world, maria):
    browser = await panel_world.signed_in_browser()
    panel_world.identity_world.clock.passes(540)

    assert await panel_world.tokens.fresh(browser) is browser


async def test_a_token_with_little_left_is_refreshed_and_kept(panel_world, maria):
    browser = await due(panel_world)

    fresh = await panel_world.tokens.fresh(browser)

    assert fresh.panel.version == browser.panel.version + 1
    assert fresh.panel.lease_until is None
    assert fresh.panel.access_ends_at == panel_world.identity_world.clock.now() + timedelta(
        minutes=10
    )
    assert await panel_world.again(browser) == fresh


async def test_many_calls_are_one_flight(panel_world, maria):
    browser = await due(panel_world)
    tokens, slow = with_slow(panel_world)
    waiting = [asyncio.create_task(tokens.fresh(browser)) for _ in range(20)]
    await until(lambda: slow.calls)

    slow.go.set()
    found = await asyncio.gather(*waiting)

    assert slow.calls == 1
    assert len({each.panel.version for each in found}) == 1
    assert panel_world.counted.count(("token_refresh", "coalesced")) == 19


async def test_a_caller_that_is_given_up_does_not_end_the_flight(panel_world, maria):
    browser = await due(panel_world)
    tokens, slow = with_slow(panel_world)
    first = asyncio.create_task(tokens.fresh(browser))
    await until(lambda: slow.calls)

    first.cancel()
    slow.go.set()
    fresh = await tokens.fresh(browser)

    assert (slow.calls, fresh.panel.version) == (1, 1)


async def test_another_process_that_holds_the_lease_is_not_disturbed(panel_world, maria):
    """The old token serves as long as it lives."""
    browser = await due(panel_world)
    now = panel_world.identity_world.clock.now()
    await panel_world.context.store.lease(
        browser.panel.id_hash, 0, now, now + timedelta(seconds=15)
    )

    found = await panel_world.tokens.fresh(browser)

    assert found.panel.access_ends_at == browser.panel.access_ends_at
    assert panel_world.counted[-1] == ("token_refresh", "coalesced")


async def test_a_token_that_is_over_waits_for_the_other_process(panel_world, maria):
    browser = await due(panel_world)
    panel_world.identity_world.clock.passes(60)
    other, slow = with_slow(panel_world)
    waits, _ = with_slow(panel_world)
    flying = asyncio.create_task(other.fresh(browser))
    await until(lambda: slow.calls)
    waiting = asyncio.create_task(waits.fresh(browser))
    await until(lambda: panel_world.counted.count(("token_refresh", "coalesced")))

    slow.go.set()
    found = await asyncio.gather(flying, waiting)

    assert found[0].panel.version == found[1].panel.version == 1
    assert slow.calls == 1


@pytest.mark.parametrize("lives", [True, False])
async def test_a_call_that_takes_too_long_is_tolerated_while_the_token_is_valid(
    panel_world, maria, lives: bool
):
    browser = await due(panel_world)
    panel_world.identity_world.clock.passes(0 if lives else 60)
    short = timedelta(milliseconds=30)
    tokens, _slow = with_slow(panel_world, refresh_timeout=short)

    if lives:
        assert (await tokens.fresh(browser)).panel.version == 0
    else:
        with refused(errors.AUTH_UNAVAILABLE):
            await tokens.fresh(browser)
    assert panel_world.counted[-1] == ("token_refresh", "error")


async def test_who_waits_has_no_more_patience_than_the_rule(panel_world, maria):
    browser = await due(panel_world)
    panel_world.identity_world.clock.passes(60)
    tokens, _slow = with_slow(panel_world, wait_timeout=timedelta(milliseconds=30))

    with refused(errors.AUTH_UNAVAILABLE):
        await tokens.fresh(browser)
    await tokens.close()


async def test_a_silent_store_is_tolerated_while_the_token_is_valid(panel_world, maria):
    browser = await due(panel_world)
    tokens, slow = with_slow(panel_world, StoreUnavailable())
    slow.go.set()

    assert (await tokens.fresh(browser)).panel.version == 0


async def test_a_refused_token_ends_the_session(panel_world, maria):
    browser = await due(panel_world)
    tokens, slow = with_slow(panel_world, ServiceError(REFRESH_INVALID, "used"))
    slow.go.set()

    with refused(SESSION_REQUIRED):
        await tokens.fresh(browser)

    assert await panel_world.records.find(browser.cookie.value) is None
    assert panel_world.counted[-1] == ("token_refresh", "invalid_grant")


async def test_a_session_that_went_away_meanwhile_is_over(panel_world, maria):
    browser = await due(panel_world)
    tokens, slow = with_slow(panel_world)
    flying = asyncio.create_task(tokens.fresh(browser))
    await until(lambda: slow.calls)
    await panel_world.context.store.remove(browser.panel.id_hash)

    slow.go.set()

    with refused(SESSION_REQUIRED):
        await flying
    with refused(SESSION_REQUIRED):
        await panel_world.tokens.fresh(browser)


async def test_a_token_that_lasts_to_the_end_is_not_refreshed(panel_world, maria):
    """There is nothing to be had any more."""
    browser = await panel_world.signed_in_browser()
    panel = replace(browser.panel, access_ends_at=browser.panel.ends_at)
    panel_world.identity_world.clock.passes(8 * 3600 - 10)

    assert await panel_world.tokens.fresh(replace(browser, panel=panel)) == replace(
        browser, panel=panel
    )


async def test_closing_gives_up_what_is_under_way(panel_world, maria):
    browser = await due(panel_world)
    tokens, slow = with_slow(panel_world)
    flying = asyncio.create_task(tokens.fresh(browser))
    await until(lambda: slow.calls)

    await tokens.close()

    with pytest.raises(asyncio.CancelledError):
        await flying
    assert slow.calls == 1
