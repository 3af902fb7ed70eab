"""An SQLite store with the sample company and its accounts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.app.store import Store, prepare
from gateway.companies.service import add_company
from gateway.core.account import Environment
from tests.world.deliveries import moved
from tests.world.standing import Clock
from tests.world.store import migrated, open_store
from tests.world.stores import samples
from tests.world.stores.patience import LONG


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = open_store(migrated(tmp_path / "store.db"), LONG)
    await prepare(opened, Environment.SANDBOX, migrate=True, now=samples.now)
    await add_company(opened.database, samples.company(), samples.event())
    for account_id in (samples.ACCOUNT, samples.SISTER):
        await opened.accounts.add(samples.account(account_id), samples.event())
    yield opened
    await opened.close()


@pytest.fixture
def clock() -> Clock:
    return moved()
