"""Payouts that may be a mistake: like another one, or forgotten by a restored store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import aiohttp
import pytest
from sqlalchemy import delete

from gateway.app.services import Services
from gateway.config.settings import Payouts
from gateway.payouts.staff import PayoutRecords
from gateway.store.tables import core
from tests.world.gateway.world import World, opened, order, sandbox


async def similar_counted(world: World) -> float:
    url = f"http://127.0.0.1:{world.gateway.operations.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as said:
        lines = (await said.text()).splitlines()
    found = [each for each in lines if each.startswith("pixgate_payout_similar_total{")]
    return sum(float(each.split()[-1]) for each in found)


@pytest.mark.parametrize(
    ("policy", "verdict", "executed"),
    [("warn", (200, ""), [1050]), ("refuse", (403, "SVC.PIX.010"), [])],
)
async def test_a_similar_payout_is_reported_or_refused(
    tmp_path: Path,
    policy: Literal["warn", "refuse"],
    verdict: tuple[int, str],
    executed: list[int],
):
    """Wishes 5: same account, amount and recipient under another reference."""
    async with opened(sandbox(tmp_path, payouts=Payouts(similar=policy))) as world:
        first = await world.pay(order("first", world.today()))
        twin = await world.pay(order("twin", world.today()))
        other = await world.pay(order("other", world.today(), value=2))
        again = await world.pay(order("first", world.today()))

        assert [each.status for each in (first, other, again)] == [200, 200, 200]
        assert twin.verdict == verdict
        assert await world.executions("twin") == executed
        assert await similar_counted(world) == 1
        main = world.demo["accounts"]["main"]["id"]
        accounts = Services(world.gateway.kernel).accounts
        account = await accounts.find(world.office.staff, main)
        payouts = world.office.service(PayoutRecords)
        found = await payouts.detail(world.office.staff, account, "first")
        assert [each.reference for each in found.similar] == (["twin"] if executed else [])


async def forget(world: World) -> None:
    """Lose every payout, as a store restored from yesterday's backup has."""
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(delete(core.attempts))
        await connection.execute(delete(core.payouts))


async def test_a_restored_store_with_look_first_pays_nothing_twice(tmp_path: Path):
    """Rule R10; what the bank does not know is sent as ever."""
    async with opened(sandbox(tmp_path, payouts=Payouts(look_first=True))) as world:
        await world.pay(order("forgotten", world.today()))
        await world.settled("forgotten")
        await forget(world)

        again = await world.pay(order("forgotten", world.today()))
        new = await world.pay(order("new", world.today(), value=3))

        assert (again.status, new.status) == (200, 200)
        assert (await world.settled("forgotten"))["status"] == "paid"
        assert await world.executions("forgotten") == [1050]
        assert await world.executions("new") == [300]


async def test_look_first_sends_nothing_while_the_bank_is_unavailable(tmp_path: Path):
    """502 ``SVC.ACC.005``: certainly not sent, and sent when the bank answers again."""
    async with opened(sandbox(tmp_path, payouts=Payouts(look_first=True))) as world:
        async with world.failing("payout_read", "status", status=500):
            refused = await world.pay(order("o-1", world.today()))
        sent = await world.pay(order("o-1", world.today()))

        assert refused.verdict == (502, "SVC.ACC.005")
        assert sent.status == 200
        assert await world.executions("o-1") == [1050]
