"""The stage of management."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import registers
from tests.unit.gateway.http.backoffice.registers import Stage, staged


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """Two companies, and the registers that hold them."""
    async with registers.opened(tmp_path) as office:
        yield await staged(office)
