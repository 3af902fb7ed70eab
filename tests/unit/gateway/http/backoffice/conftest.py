"""The stage of management."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.gateway.http.backoffice.registers import AdminWorld, admin_world_of
from tests.world import registers


@pytest.fixture
async def admin_world(tmp_path: Path) -> AsyncIterator[AdminWorld]:
    """Two companies, and the registers that hold them."""
    async with registers.opened(tmp_path) as office:
        yield await admin_world_of(office)
