"""Every test here runs on an empty store, see ``databases.py`` for which."""

import shutil
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from gateway.app.store import Store, prepare
from gateway.companies.service import add_company
from gateway.core.account import Environment
from tests.contract.stores.databases import USUAL
from tests.world.store import aside, migrated, open_store
from tests.world.stores import samples
from tests.world.stores.emptying import EMPTYING
from tests.world.stores.patience import LONG


@pytest.fixture(params=USUAL)
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def migrated_url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of a database of today's schema that has no stamp yet."""
    if kind == "sqlite":
        return migrated(tmp_path / "store.db")
    found: str = request.getfixturevalue("migrated_postgres_url")
    return found


@pytest.fixture
async def fresh(url: str) -> AsyncIterator[Store]:
    """A store without tables."""
    opened = open_store(url, LONG)
    yield opened
    await opened.close()


@pytest.fixture
async def unstamped(migrated_url: str) -> AsyncIterator[Store]:
    """A store of today's schema that belongs to no environment yet."""
    opened = open_store(migrated_url, LONG)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def made() -> list[str]:
    """The PostgreSQL database these tests share, once made: making one takes 0.4 s."""
    return []


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite store that is filled, to be copied: filling each took a quarter of the CPU."""

    async def fill() -> None:
        opened = open_store(migrated(file), LONG)
        await _fill(opened)
        await opened.close()

    file = tmp_path_factory.mktemp("filled") / "store.db"
    aside(fill())
    return file


@pytest.fixture
async def store(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, made: list[str]
) -> AsyncIterator[Store]:
    if kind == "sqlite":
        file = shutil.copy(request.getfixturevalue("filled"), tmp_path)
        opened = open_store(f"sqlite:///{file}", LONG)
        yield opened
        await opened.close()
        return
    if not made:
        server = request.getfixturevalue("postgres_server")
        # Another run may have been on the same server.
        made.append(await server.create(f"store_contract_{uuid.uuid4().hex}"))
    opened = open_store(made[0], LONG)
    try:
        await prepare(opened, Environment.SANDBOX, migrate=True, now=samples.now)
        async with opened.database.writing() as connection:
            for statement in EMPTYING:
                await connection.execute(text(statement))
        await _fill(opened)
        yield opened
    finally:
        await opened.close()


@pytest.fixture
async def second(store: Store) -> AsyncIterator[Store]:
    """The same store, opened once more as another process does."""
    opened = open_store(store.url, LONG)
    yield opened
    await opened.close()


async def _fill(store: Store) -> None:
    await prepare(store, Environment.SANDBOX, migrate=True, now=samples.now)
    await add_company(store.database, samples.company(), samples.event())
    for account_id in (samples.ACCOUNT, samples.SISTER):
        await store.accounts.add(samples.account(account_id), samples.event())
