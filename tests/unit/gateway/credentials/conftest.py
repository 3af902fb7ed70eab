"""Credentials over a store of the test's own, alone and where two people decide."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.gateway.credentials import two_people


@pytest.fixture
async def people(tmp_path: Path) -> AsyncIterator[two_people.TwoPeople]:
    """One who orders, one who decides, and a company."""
    async with two_people.opened(tmp_path) as opened:
        yield opened
