"""
Redis on a busy host, 100 ms late, and away: who is within a quota stays served.

Four server processes, of which one partner calls a single one. Tries of wrong secrets pass no
oftener than one and a half times the limit.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.proofs.operating.nodes import PROCESSES, Nodes, nodes_in
from tests.proofs.torture.gateway_client import torture_world_in
from tests.world.extent import WHOLE
from tests.world.gateway.world import basic

pytestmark = [
    pytest.mark.skipif(not WHOLE, reason="`make proofs` alone"),
    pytest.mark.timeout(900),
]
QUOTA = {"rate": 20, "burst": 40}
SECONDS = 8
TRIES = 120
FAILED = {"per_address": 6000, "per_address_and_client": 20, "hard_per_address": 60_000}


@contextmanager
def busy() -> Iterator[None]:
    """Keep every processor of this machine busy three times over."""
    burning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(3 * (os.cpu_count() or 1))
    ]
    try:
        yield
    finally:
        for each in burning:
            each.kill()
            each.wait()


async def measured(nodes: Nodes, state: str) -> tuple[int, int]:
    """Return how many calls of the partner are refused, and how many wrong secrets are not."""
    calls = Counter(await nodes.asked(15, SECONDS, at=0))
    wrong = basic({"client_id": f"cli_{state.replace(' ', '')}", "client_secret": "wrong"})
    tries = Counter([await nodes.balance(number, wrong) for number in range(TRIES)])
    print(state, calls, tries, await nodes.counted())  # noqa: T201 - docs/operations.md has them
    assert set(calls) <= {200, 429}
    assert set(tries) <= {401, 429}
    return calls[429], tries[401]


async def test_limits_hold_while_redis_is_slow(tmp_path: Path, postgres_url: str):
    """
    15 calls a second where 20 are allowed, and 120 wrong secrets where 20 are.

    Finally a flood at all processes: less than twice the quota is served.
    """
    found = {}
    limits = {"failed_credentials": FAILED}
    async with (
        torture_world_in(tmp_path) as world,
        nodes_in(world, tmp_path, postgres_url, {"read": QUOTA}, far=True, limits=limits) as nodes,
    ):
        found["well"] = await measured(nodes, "well")
        with busy():
            found["busy host"] = await measured(nodes, "busy host")
        nodes.between.delay_s = 0.1
        found["100 ms late"] = await measured(nodes, "100 ms late")
        nodes.between.delay_s = 0.0
        await nodes.asked(15, 2, at=0)
        await nodes.between.close()
        found["away"] = await measured(nodes, "away")
        flood = Counter(await nodes.asked(60, SECONDS))
        most = (QUOTA["burst"] + QUOTA["rate"] * nodes.took_s) * (2 - 1 / PROCESSES)
        print("flood", flood, nodes.took_s)  # noqa: T201

    assert all(refused <= 15 * SECONDS // 50 for refused, _ in found.values()), found
    assert all(0 < passed <= 30 for _, passed in found.values()), found
    assert flood[200] <= most, flood
