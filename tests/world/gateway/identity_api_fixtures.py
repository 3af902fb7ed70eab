"""Identity and the panel served for each test, over either database, with one user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.app.store import Store, prepare
from gateway.core.account import Environment
from gateway.core.user import User
from tests.world.gateway.identity_api import ApiClient, api_client_on
from tests.world.standing import Clock
from tests.world.store import migrated, open_store


@pytest.fixture
def clock() -> Clock:
    """Noon, until a test lets time pass."""
    return Clock()


@pytest.fixture
def kind() -> str:
    """Which database: SQLite unless a test wants both."""
    return "sqlite"


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a store without a stamp."""
    if kind == "sqlite":
        return migrated(tmp_path / "store.db")
    found: str = request.getfixturevalue("migrated_postgres_url")
    return found


@pytest.fixture
async def store(url: str, clock: Clock) -> AsyncIterator[Store]:
    opened = open_store(url)
    await prepare(opened, Environment.SANDBOX, migrate=True, now=clock.now)
    yield opened
    await opened.close()


@pytest.fixture
async def api_client(store: Store, clock: Clock) -> AsyncIterator[ApiClient]:
    async with api_client_on(store, clock) as opened:
        yield opened


@pytest.fixture
async def maria(api_client: ApiClient) -> User:
    """An admin with a password and no second factor."""
    return await api_client.identity_world.person()
