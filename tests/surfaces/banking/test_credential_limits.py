"""Limits of a credential on the banking surface: after replays, with a code of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway.world import World, opened, order, patient, sandbox

ABOVE = (403, "SVC.GTW.010")


async def limited(world: World, **limits: Money) -> Pair:
    """Issue a credential with limits for the main company."""
    made = await world.issue(limits=CredentialLimits(**limits))
    return Pair(client_id=made.credential.client_id, client_secret=made.client_secret)


async def test_a_credential_pays_up_to_its_limits(tmp_path: Path):
    async with opened(patient(sandbox(tmp_path))) as world:
        who = await limited(world, per_payout=Money(1000), per_day=Money(2500))
        today = world.today()

        large = await world.pay(order("large", today, value=10.01), pair=who)
        made = [await world.pay(order(f"o-{n}", today, value=10), pair=who) for n in range(2)]
        above = await world.pay(order("above", today, value=5.01), pair=who)
        replay = await world.pay(order("o-0", today, value=10), pair=who)
        rest = await world.pay(order("rest", today, value=5), pair=who)
        other = await world.pay(order("other", today, value=100))

        assert (large.verdict, above.verdict) == (ABOVE, ABOVE)
        assert [each.status for each in (*made, replay, rest, other)] == [200] * 5
        assert await world.executions("above") == []
        assert (await world.ask("GET", world.at("/withdraw/above"))).status == 404


async def test_payouts_of_one_moment_do_not_slip_under_a_daily_limit(tmp_path: Path):
    async with opened(patient(sandbox(tmp_path))) as world:
        who = await limited(world, per_day=Money(3000))
        wanted = [order(f"o-{number}", world.today(), value=10) for number in range(12)]

        said = await asyncio.gather(*(world.pay(each, pair=who) for each in wanted))

        assert sorted(each.verdict for each in said) == [(200, "")] * 3 + [ABOVE] * 9
