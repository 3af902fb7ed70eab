"""Registers on a store of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.world import registers
from tests.world.registers import Registers


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Registers]:
    """Registers without an entry."""
    async with registers.opened(tmp_path) as opened:
        yield opened
