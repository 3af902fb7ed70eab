"""Approvals over a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.approving import ApprovalWorld, opened
from tests.unit.standing import Clock
from tests.world.payouts import PayoutWorld


@pytest.fixture
async def approval_world(
    payout_world: PayoutWorld, tmp_path: Path, clock: Clock
) -> AsyncIterator[ApprovalWorld]:
    async with opened(payout_world, tmp_path, clock) as world:
        yield world
