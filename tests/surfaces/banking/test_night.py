"""Limits of the night on the wire: the gateway's default ones, and those of a credential."""

from __future__ import annotations

from pathlib import Path

from gateway.config.settings import Night, Payouts
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway.world import World, opened, order, pair_of, sandbox

ABOVE = (403, "SVC.GTW.010")
NOW = Night(begins="08:00", ends="12:00", limit_per_night="20.00")
"""These worlds begin at noon in UTC: 09:00 in São Paulo."""


async def issued(world: World, **limits: Money) -> Pair:
    made = await world.issue(limits=CredentialLimits(**limits))
    return pair_of(made)


async def paid(world: World, pair: Pair, *references: str) -> list[tuple[int, str]]:
    """Pay R$ 10.50 under each reference."""
    done = [await world.pay(order(each, world.today()), pair=pair) for each in references]
    return [(each.status, "") if each.status == 200 else each.verdict for each in done]


async def test_the_gateway_s_night_limits_apply_to_credentials_without_their_own(tmp_path: Path):
    async with opened(sandbox(tmp_path, payouts=Payouts(night=NOW))) as world:
        plain = await issued(world)
        higher = await issued(world, per_night=Money(2100))
        lower = await issued(world, per_payout_at_night=Money(1049))

        first = await paid(world, plain, "a-1", "a-2", "a-1")
        second = await paid(world, higher, "b-1", "b-2", "b-3")
        third = await paid(world, lower, "c-1")
        sent = [await world.executions(each) for each in ("a-2", "b-3", "c-1")]

    assert first == [(200, ""), ABOVE, (200, "")]
    assert second == [(200, ""), (200, ""), ABOVE]
    assert third == [ABOVE]
    assert sent == [[], [], []]
