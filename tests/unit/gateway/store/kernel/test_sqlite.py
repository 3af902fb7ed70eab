"""A store in one file: durable, strict, for its owner alone."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import literal, select
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.app.store import Store
from gateway.companies.service import add_company
from gateway.core.storage import StoreUnavailable
from gateway.store import schema
from gateway.store.kernel.address import address
from gateway.store.kernel.database import DEFAULT_LIMITS, Limits
from gateway.store.kernel.prepared import bound
from gateway.store.kernel.sqlite import open_file
from gateway.store.tables.core import payouts
from tests.world.store import open_store
from tests.world.stores.samples import company, event


async def pragma(engine: AsyncEngine, name: str) -> object:
    async with engine.connect() as connection:
        return (await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one()


async def test_each_connection_has_the_required_pragmas(store: Store) -> None:
    """``synchronous`` 2 is FULL: less may lose the last commits with the power."""
    cases = [
        ("journal_mode", "wal", "wal"),
        ("synchronous", 2, 2),
        ("foreign_keys", 1, 1),
        ("busy_timeout", 5000, 5000),
        ("query_only", 0, 1),
    ]

    for name, writer, reader in cases:
        assert await pragma(store.database.writer, name) == writer
        assert await pragma(store.database.reader, name) == reader


async def test_the_lock_timeout_is_a_setting(url: str) -> None:
    opened = open_store(url, Limits(busy_s=0.25))

    waits = await pragma(opened.database.writer, "busy_timeout")

    await opened.close()
    assert waits == 250


async def test_a_writer_locks_before_its_first_statement(store: Store) -> None:
    """A transaction that starts with a read can meet a lock that waiting does not resolve."""
    second = open_store(store.url, Limits(busy_s=0))

    async with store.database.writing() as connection:
        await connection.execute(select(literal(1)))
        with pytest.raises(StoreUnavailable, match="OperationalError"):
            await add_company(second.database, company("new"), event())
    await second.close()


async def test_many_keys_are_found_by_the_index(store: Store) -> None:
    """However many payouts there are, only the given ones are read."""
    columns = (payouts.c.account_id, payouts.c.reference_sha256)
    keys = [("one", b"a"), ("one", b"b"), ("two", b"a")]
    asked = select(payouts.c.state).where(store.database.among(columns, "keys"))
    compiled = asked.params(bound("keys", keys)).compile(
        store.database.reader.sync_engine, compile_kwargs={"literal_binds": True}
    )

    async with store.database.reading() as connection:
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")
        steps = [row.detail for row in plan if "payouts" in row.detail]

    index = "USING INDEX sqlite_autoindex_payouts_1 (account_id=? AND reference_sha256=?)"
    assert steps == [f"SEARCH payouts {index}"]


async def test_the_store_s_files_are_readable_by_the_owner_only(url: str, tmp_path: Path) -> None:
    """Including the files that SQLite writes beside it."""
    await schema.upgrade(url)
    store = open_store(url)
    await pragma(store.database.writer, "user_version")

    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "var").iterdir()}
    await store.close()

    assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), "0o600")
    assert (tmp_path / "var").stat().st_mode & 0o777 == 0o700


def test_an_existing_file_keeps_its_mode(url: str, tmp_path: Path) -> None:
    """An operator may have given a backup's group the right to read."""
    open_store(url)
    file = tmp_path / "var/store.db"
    file.chmod(0o640)

    open_store(url)

    assert file.stat().st_mode & 0o777 == 0o640


def test_a_file_is_in_wal_mode_before_the_first_connection(url: str, tmp_path: Path) -> None:
    open_store(url)

    with closing(sqlite3.connect(tmp_path / "var/store.db")) as connection:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()

    assert mode == "wal"


def test_concurrent_creation_of_one_file_succeeds(url: str) -> None:
    """Switching a new file to WAL does not wait for a concurrent switch."""
    failed: list[Exception] = []
    barrier = threading.Barrier(6)

    def make() -> None:
        barrier.wait()
        try:
            open_file(address(url), DEFAULT_LIMITS)
        except Exception as problem:  # noqa: BLE001 - shown below
            failed.append(problem)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []


@pytest.mark.process
async def test_reopening_a_store_keeps_its_file_locks(tmp_path: Path) -> None:
    """
    POSIX drops all locks of a process on a file when it closes any descriptor of it.

    Without them another process deletes the journal as it ends, and later writes are lost.
    """
    file = tmp_path / "store.db"
    store = open_store(f"sqlite:///{file}")
    await store.check()
    await schema.upgrade(store.url)

    query = "SELECT count(*) FROM payouts"
    visit = f"import sqlite3; c = sqlite3.connect({str(file)!r}); c.execute({query!r}); c.close()"
    subprocess.run([sys.executable, "-c", visit], check=True)

    assert file.with_name("store.db-wal").exists()
    await store.close()
