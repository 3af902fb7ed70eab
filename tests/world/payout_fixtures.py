"""Shared by tests of single modules: a clock that stands still, and payouts on a real store."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from gateway.app.store import prepare
from gateway.companies.model import Company
from gateway.companies.service import add_company
from gateway.core.account import Environment
from gateway.core.audit import AuditEvent
from tests.world.payouts import PayoutWorld, ScriptedBank
from tests.world.people import COMPANY, SISTER, account
from tests.world.standing import NOON, Clock
from tests.world.store import migrated, open_store


@pytest.fixture
def clock() -> Clock:
    """Noon, until a test lets time pass."""
    return Clock()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with one company and two accounts, made once: making one takes a while."""
    file = tmp_path_factory.mktemp("store") / "store.db"
    store = open_store(migrated(file))
    act = AuditEvent(at=NOON, actor="cli", action="tested", subject="test:1")
    try:
        await prepare(store, Environment.SANDBOX, migrate=True, now=lambda: NOON)
        await add_company(store.database, Company(COMPANY, "Padaria São João", NOON, ""), act)
        await store.accounts.add(account(), act)
        await store.accounts.add(account(SISTER), act)
    finally:
        await store.close()
    return file


@pytest.fixture
async def payout_world(
    store_file: Path, tmp_path: Path, clock: Clock
) -> AsyncIterator[PayoutWorld]:
    """A node that pays out, on a store of its own in which nothing has been paid."""
    shutil.copy(store_file, tmp_path / "store.db")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    yield PayoutWorld(store.payouts, ScriptedBank(), clock)
    await store.close()
