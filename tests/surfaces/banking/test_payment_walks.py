"""Payments that a real bank shows and nobody told of, found by a walk and read in the feed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world.gateway.world import World
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def feed(world: World, after: str, types: str = "") -> tuple[list[dict[str, Any]], str]:
    """Read the feed of the account's sister from a cursor to its end."""
    account, found = world.demo["accounts"]["sister"]["id"], list[dict[str, Any]]()
    while True:
        path = f"/events/v1/account/{account}/events?limit=100&after={after}&types={types}"
        part = await world.ask("GET", path, by="company")
        assert part.status == 200
        found += part.document["data"]
        if not part.document["data"]:
            return found, part.document["next"]
        after = part.document["next"]


async def walk(world: World) -> None:
    for task in ("feed readers", "payment walks"):
        await world.run_task(task)


async def test_a_payment_without_a_charge_is_found_with_its_refund(world: World):
    """Nobody ordered the refund here."""
    account = world.demo["accounts"]["sister"]["id"]
    await feed(world, "")
    await walk(world)
    _, after = await feed(world, "")

    paid = await world.control.post("accounts", account, "incoming", body={"value": 12.34})
    await walk(world)
    received, after = await feed(world, after)
    refund = {"e2e_id": paid["e2e_id"], "value": 2.34, "key": "r" * 32}
    given_back = await world.control.post("accounts", account, "refunds", body=refund)

    async def found() -> list[dict[str, Any]]:
        await walk(world)
        return (await feed(world, after))[0]

    refunded = await until(found)

    assert [(each["type"], each["data"]) for each in received] == [
        ("pix.received", {"account_id": account, "reference": "", "e2e_id": paid["e2e_id"]})
    ]
    assert [(each["type"], each["data"]) for each in refunded] == [
        (
            "pix.refunded",
            {
                "account_id": account,
                "e2e_id": paid["e2e_id"],
                "return_id": given_back["return_id"],
            },
        )
    ]


async def test_an_unread_feed_is_not_walked(world: World):
    await feed(world, "")
    await world.control.delete("calls")

    await walk(world)

    paths = [each["path"] for each in (await world.control.get("calls"))["data"]]
    walked = [
        name
        for name in ("main", "sister")
        if any(world.demo["accounts"][name]["id"] in each for each in paths)
    ]
    assert walked == ["sister"]
