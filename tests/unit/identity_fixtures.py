"""Identity on a store of its own, one user, and the panel over it."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.domain.identity.users import User
from gateway.store.engine import open_store
from tests.unit.browsing import Hall, hall_of
from tests.unit.door import Door, door_of
from tests.unit.standing import Clock


@pytest.fixture
async def door(store_file: Path, tmp_path: Path, clock: Clock) -> AsyncIterator[Door]:
    """Identity with its first signing key; nobody is known."""
    shutil.copy(store_file, tmp_path / "store.db")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    opened = door_of(store, clock)
    await opened.services.signing_keys.ensure()
    yield opened
    opened.hasher.close()
    await store.close()


@pytest.fixture
async def maria(door: Door) -> User:
    """An admin with a password and no second factor."""
    return await door.person()


@pytest.fixture
async def hall(door: Door) -> AsyncIterator[Hall]:
    """The panel behind the door."""
    opened = hall_of(door)
    yield opened
    await opened.tokens.close()
