"""Orders and decisions of people, each on a store of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.gateway.operations.backoffice import access_world as access
from tests.unit.gateway.operations.backoffice import approval_world as approving
from tests.world.payouts import PayoutWorld
from tests.world.standing import Clock


@pytest.fixture
async def access_world(tmp_path: Path) -> AsyncIterator[access.AccessWorld]:
    """An admin who orders, an approver who decides, and a company."""
    async with access.opened(tmp_path) as world:
        yield world


@pytest.fixture
async def approval_world(
    payout_world: PayoutWorld, tmp_path: Path, clock: Clock
) -> AsyncIterator[approving.ApprovalWorld]:
    """Approvals of payouts and refunds, over a scripted bank."""
    async with approving.opened(payout_world, tmp_path, clock) as world:
        yield world
