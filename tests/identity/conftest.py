"""Two nodes over one store, on both databases."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.app.store import Store, prepare
from gateway.core.account import Environment
from gateway.core.user import User
from tests.servers.postgres import PostgresServer
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.standing import Clock
from tests.world.store import migrated, open_store
from tests.world.stores.emptying import EMPTYING
from tests.world.stores.patience import LONG


@pytest.fixture
def clock() -> Clock:
    """One clock for both nodes: noon, until a test lets time pass."""
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which database."""
    found: str = request.param
    return found


@pytest.fixture(scope="session")
def made() -> list[str]:
    """The PostgreSQL database these tests share, once made: making one takes a second."""
    return []


@pytest.fixture
async def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path, made: list[str]) -> str:
    """Address of a database; on PostgreSQL ``nodes`` empties it."""
    if kind == "sqlite":
        return migrated(tmp_path / "store.db")
    if not made:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        made.append(await server.create("identity_suite"))
    return made[0]


@pytest.fixture
async def nodes(
    url: str, kind: str, clock: Clock
) -> AsyncIterator[tuple[IdentityWorld, IdentityWorld]]:
    """Two processes, as far as the store can tell."""
    stores: list[Store] = [open_store(url, LONG), open_store(url, LONG)]
    await prepare(stores[0], Environment.SANDBOX, migrate=True, now=clock.now)
    if kind == "postgres":
        await _empty(stores[0], clock)
    first, second = (identity_world_on(store, clock) for store in stores)
    await asyncio.gather(
        first.services.signing_keys.ensure(), second.services.signing_keys.ensure()
    )
    yield first, second
    for identity_world in (first, second):
        identity_world.hasher.close()
        await identity_world.store.close()


async def _empty(store: Store, clock: Clock) -> None:
    """Delete everything and stamp the store again."""
    async with store.database.writing() as connection:
        for statement in EMPTYING:
            await connection.execute(text(statement))
    await prepare(store, Environment.SANDBOX, migrate=True, now=clock.now)


@pytest.fixture
def here(nodes: tuple[IdentityWorld, IdentityWorld]) -> IdentityWorld:
    """The first node."""
    return nodes[0]


@pytest.fixture
def there(nodes: tuple[IdentityWorld, IdentityWorld]) -> IdentityWorld:
    """The second node."""
    return nodes[1]


@pytest.fixture
async def maria(here: IdentityWorld) -> User:
    """An admin with a password."""
    return await here.person()
