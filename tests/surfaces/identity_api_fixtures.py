"""Identity and the panel served for each test, over either database, with one user."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.identity.users import User
from gateway.store.engine import Store, open_store
from gateway.store.schema import prepare
from tests.servers.postgres import PostgresServer
from tests.surfaces.identity_api import ApiClient, api_client_on
from tests.unit.standing import Clock
from tests.world.store import migrated


@pytest.fixture
def clock() -> Clock:
    """Noon, until a test lets time pass."""
    return Clock()


@pytest.fixture
def kind() -> str:
    """Which database: SQLite unless a test wants both."""
    return "sqlite"


@pytest.fixture
async def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """Address of an empty database."""
    if kind == "sqlite":
        yield migrated(tmp_path / "store.db")
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = f"house_{uuid.uuid4().hex}"
    yield await server.create(name)
    await server.drop(name)


@pytest.fixture
async def store(url: str, clock: Clock) -> AsyncIterator[Store]:
    """An empty store of ours."""
    opened = open_store(url)
    await prepare(opened, Environment.SANDBOX, migrate=True, now=clock.now)
    yield opened
    await opened.close()


@pytest.fixture
async def api_client(store: Store, clock: Clock) -> AsyncIterator[ApiClient]:
    """Identity and the panel on a port."""
    async with api_client_on(store, clock) as opened:
        yield opened


@pytest.fixture
async def maria(api_client: ApiClient) -> User:
    """An admin with a password and no second factor."""
    return await api_client.identity_world.person()
