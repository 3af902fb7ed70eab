"""Orders and decisions of people, each on a store of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.gateway.operations.backoffice import access_world as access


@pytest.fixture
async def access_world(tmp_path: Path) -> AsyncIterator[access.AccessWorld]:
    """An admin who orders, an approver who decides, and a company."""
    async with access.opened(tmp_path) as world:
        yield world
