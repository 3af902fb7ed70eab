"""The reads that ask the bank: what they show, and what becomes of a bank that fails."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest

from gateway.http.table import PlacedRoute
from tests.surfaces.banking.reads import FAILS
from tests.world.gateway import routes
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def shown(world: World, path: str, **details: Any) -> Any:
    answer = await world.ask("GET", world.at(path), **details)
    assert answer.status == 200, answer.body
    return answer.document


async def test_the_balance_is_money_with_two_decimals(world: World):
    """Contract 2.1, 2.3: checked in the bytes, before a parser drops zeros."""
    answer = await world.ask("GET", world.at("/balance"))

    assert re.fullmatch(
        rb'\{"balance":\d+\.\d\d,"blocked":\d+\.\d\d,"updated_at":"[^"]{20}"\}', answer.body
    )


async def test_the_balance_is_live(world: World):
    account = world.demo["accounts"]["main"]["id"]
    before = await shown(world, "/balance")

    await world.control.post("accounts", account, "top-up", body={"value": 10.5})
    await world.control.post("accounts", account, "block", body={"value": 3})
    after = await shown(world, "/balance")

    assert round(after["balance"] - before["balance"], 2) == 10.5
    assert round(after["blocked"] - before["blocked"], 2) == 3


async def test_the_statement_shows_movements_balance_and_account(world: World):
    """Contract 2.7: newest first; movements that are not Pix are left out."""
    today = world.gateway.kernel.now().date()
    window = f"/transactions?init={today - timedelta(days=20)}&ends={today}&limit=100"

    found = await shown(world, window)

    entries = found["data"]
    assert list(found) == ["data", "meta", "balance", "account"]
    assert [each["created_at"] for each in entries] == sorted(
        (each["created_at"] for each in entries), reverse=True
    )
    assert found["meta"]["total"] == len(entries) >= 6
    assert {(each["operation"], each["type"]) for each in entries} <= {
        ("Pix In", "credit"),
        ("Pix Out", "debit"),
    }
    assert "Fatura 2210" in {each["description"] for each in entries}
    assert all(each["value"] > 0 for each in entries)
    assert all(each["tags"][0] == each["id"] for each in entries)
    assert (await shown(world, "/balance"))["balance"] == found["balance"]["balance"]


FAULTS: dict[str, tuple[str, int]] = {
    kind: (kind, 500)
    for kind in (
        "refuse",
        "reset_before",
        "reset_after",
        "malformed",
        "wrong_types",
        "huge",
        "reject",
    )
} | {f"status {status}": ("status", status) for status in (204, 302, 401, 403, 429, 500, 503)}


async def test_the_table_covers_every_route_that_queries_the_bank(world: World):
    """A new one is added to the table above."""
    assert {place.route.name for place in routes.BANKED} == set(FAILS)


@pytest.mark.parametrize("case", list(FAULTS))
async def test_a_failing_bank_is_a_502_with_the_endpoint_s_code(world: World, case: str):
    """For any cause; all reads at once. Retry-After is checked for every 502."""
    await prove_failed(world, *FAULTS[case])


@pytest.mark.parametrize("kind", ["hang", "hang_after", "drip"])
async def test_a_silent_bank_is_a_502_with_the_endpoint_s_code(hurried_world: World, kind: str):
    await routes.prepared(hurried_world)
    await prove_failed(hurried_world, kind)


async def prove_failed(world: World, kind: str, status: int = 500) -> None:
    async with world.failing("*", kind, status=status):
        answers = await asyncio.gather(*(routes.ask(world, place) for place in routes.BANKED))

    said = {
        place.route.name: answer.verdict
        for place, answer in zip(routes.BANKED, answers, strict=True)
    }
    assert said == {name: (502, code) for name, code in FAILS.items()}


async def test_a_read_is_repeated_once_when_the_connection_is_lost(world: World):
    async with world.failing("balance", "reset_before", count=1):
        answer = await world.ask("GET", world.at("/balance"))

    assert answer.status == 200


@pytest.mark.parametrize("place", routes.BANKED, ids=routes.name)
async def test_a_read_of_an_account_without_a_provider_is_422(world: World, place: PlacedRoute):
    """422, because a repeat cannot help."""
    answer = await routes.ask(world, place, "no_provider", by="company")

    assert answer.verdict == (422, "SVC.ACC.005")


async def test_a_read_only_account_is_read(world: World):
    answer = await world.ask("GET", world.at("/balance", "read_only"), by="company")

    assert (answer.status, answer.document["balance"]) == (200, 2500.0)
