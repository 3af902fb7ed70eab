"""Orders and decisions of people, on a store of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.gateway.approvals import approval_world as approving
from tests.world.payouts import PayoutWorld
from tests.world.standing import Clock


@pytest.fixture
async def approval_world(
    payout_world: PayoutWorld, tmp_path: Path, clock: Clock
) -> AsyncIterator[approving.ApprovalWorld]:
    """Approvals of payouts and refunds, over a scripted bank."""
    async with approving.opened(payout_world, tmp_path, clock) as world:
        yield world
