"""The ten operations end to end, on either database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.config.settings import Settings
from tests.world.gateway import routes
from tests.world.gateway.world import NOBODY, World, opened, order


@pytest.fixture
async def world(settings_on_either_store: Settings) -> AsyncIterator[World]:
    async with opened(settings_on_either_store) as made:
        yield made


async def test_every_operation_answers(world: World):
    """Contract 4.1: 200, or 501 for what is not available."""
    await routes.prepared(world)

    answers = {place.route.name: await routes.ask(world, place) for place in routes.PARTNER}

    expected = {place.route.name: 200 for place in routes.PARTNER} | {"banking.payout_cancel": 501}
    assert {name: answer.status for name, answer in answers.items()} == expected


async def test_a_payout_is_paid_once_and_shows_in_the_statement(world: World):
    """Created, repeated concurrently, paid, listed, and in the statement."""
    sent = order("end-to-end", world.today(), value=123.45)
    before = (await world.ask("GET", world.at("/balance"))).document["balance"]

    answers = await asyncio.gather(*(world.pay(sent) for _ in range(10)))
    settled = await world.settled("end-to-end")
    listed = await world.ask("GET", world.at(f"/withdraws{routes.window(world)}"))
    booked = await world.ask("GET", world.at(f"/transactions{routes.window(world)}"))
    after = (await world.ask("GET", world.at("/balance"))).document["balance"]

    assert {answer.status for answer in answers} == {200}
    assert await world.executions("end-to-end") == [12345]
    assert settled["status"] == "paid"
    assert listed.document["data"] == [settled]
    assert round(before - after, 2) == 123.45
    entry = booked.document["data"][0]
    assert (entry["operation"], entry["type"], entry["value"]) == ("Pix Out", "debit", 123.45)
    assert settled["e2e_id"] in entry["tags"]


async def test_public_routes_require_no_credential(world: World):
    """Not even a wrong one is checked."""
    wrong = {"Authorization": "Basic %"}
    for place in routes.OPEN:
        plain = await world.ask("GET", place.template, by=NOBODY)
        odd = await world.ask("GET", place.template, by=NOBODY, headers=wrong)

        assert (plain.status, odd.status) == (200, 200), place.route.name
        assert plain.body == odd.body


async def test_info_and_health_follow_the_decisions(world: World):
    info = await world.ask("GET", "/baas/v1/info", by=NOBODY)
    health = await world.ask("GET", "/baas/v1/health", by=NOBODY)

    assert info.document == {"name": "pixgate", "version": "1.0.0", "environment": "sandbox"}
    assert health.document == {"status": "ok"}
