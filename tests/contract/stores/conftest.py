"""Every test here runs on both databases, each time on an empty one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.domain.accounts import Environment
from gateway.store.engine import Store, open_store
from gateway.store.stamp import prepare
from tests.contract.stores import samples


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """A sandbox store with one company and two accounts of it."""
    opened = open_store(url)
    await prepare(opened, Environment.SANDBOX, migrate=True, now=samples.now)
    await opened.companies.add(samples.company(), samples.event())
    for account_id in (samples.ACCOUNT, samples.SISTER):
        await opened.accounts.add(samples.account(account_id), samples.event())
    yield opened
    await opened.close()


@pytest.fixture
async def second(store: Store) -> AsyncIterator[Store]:
    """The same store, opened once more as another process does."""
    opened = open_store(store.url)
    yield opened
    await opened.close()
