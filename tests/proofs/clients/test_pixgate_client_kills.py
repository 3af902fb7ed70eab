"""``pixgate-client`` and a gateway that is killed in the middle of a payout."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from gateway.app.failpoints import NAMES
from tests.proofs.clients.partner import FOR_EVER_S, KINDS, order, partner_at
from tests.proofs.torture.gateway_client import GatewayClient, torture_world_in
from tests.world.extent import WHOLE

POINTS = NAMES if WHOLE else ("after_body",)
_LATER_S = 120
"""Longer than the lease and the quiet period after it."""


@pytest.mark.parametrize("kind", KINDS)
async def test_a_payout_whose_gateway_is_killed_is_unknown_and_then_paid_once(
    tmp_path: Path, kind: str
):
    """At every point between reading the request and answering it; then the gateway is back."""
    async with torture_world_in(tmp_path) as torture_world:
        for point in POINTS:
            await killed_at(await torture_world.gateway_client(point), kind, point)


async def killed_at(gateway_client: GatewayClient, kind: str, point: str) -> None:
    await gateway_client.start(failpoint=point)
    async with partner_at(gateway_client, kind) as partner:
        error = await partner.outcome(order("once"), first=True, deadline_s=30)
        assert await gateway_client.command.ended() == -signal.SIGKILL

        gateway_client.offset_s += _LATER_S
        await gateway_client.start()
        while not await gateway_client.executions("once"):
            await partner.call("pay", order("once"), deadline_s=FOR_EVER_S)
        payout = await partner.call("pay", order("once"), deadline_s=FOR_EVER_S)
        ended = await partner.call("wait_for", payout, deadline_s=FOR_EVER_S)

    assert (point, type(error).__name__) == (point, "Unknown")
    assert (point, ended.status) == (point, "paid")
    assert (point, await gateway_client.executions("once")) == (point, [1050])
    gateway_client.command.kill()
