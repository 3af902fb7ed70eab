"""Users, their sessions, and orders about them, each on a store of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.gateway.identity import access_world as access
from tests.unit.identity_fixtures import identity_world, maria, panel_world

__all__ = ["access_world", "identity_world", "maria", "panel_world"]


@pytest.fixture
async def access_world(tmp_path: Path) -> AsyncIterator[access.AccessWorld]:
    """An admin who orders, an approver who decides, and a company."""
    async with access.opened(tmp_path) as world:
        yield world
