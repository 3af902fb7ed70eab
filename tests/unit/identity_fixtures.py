"""Identity on a store of its own, one user, and the panel over it."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.core.user import User
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.panel import PanelWorld, panel_world_on
from tests.world.standing import Clock
from tests.world.store import open_store


@pytest.fixture
async def identity_world(
    store_file: Path, tmp_path: Path, clock: Clock
) -> AsyncIterator[IdentityWorld]:
    """Identity with its first signing key, without users."""
    shutil.copy(store_file, tmp_path / "store.db")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    opened = identity_world_on(store, clock)
    await opened.services.signing_keys.ensure()
    yield opened
    opened.hasher.close()
    await store.close()


@pytest.fixture
async def maria(identity_world: IdentityWorld) -> User:
    """An admin with a password and no second factor."""
    return await identity_world.person()


@pytest.fixture
async def panel_world(identity_world: IdentityWorld) -> AsyncIterator[PanelWorld]:
    opened = panel_world_on(identity_world)
    yield opened
    await opened.sessions.close()
