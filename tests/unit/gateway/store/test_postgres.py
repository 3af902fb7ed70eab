"""A store on a server: what each of its sessions is told."""

import pytest

from gateway.store.database import Limits
from gateway.store.engine import open_store


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("statement_timeout", "1500ms"),
        ("idle_in_transaction_session_timeout", "1500ms"),
        ("application_name", "pixgate"),
        ("transaction_isolation", "read committed"),
    ],
)
async def test_a_session_has_its_limits(postgres_url: str, setting: str, value: str) -> None:
    opened = open_store(postgres_url, Limits(statement_s=1.5))

    async with opened.database.writing() as connection:
        found = (await connection.exec_driver_sql(f"SHOW {setting}")).scalar_one()

    await opened.close()
    assert found == value


async def test_reads_stand_alone_and_writes_do_not(postgres_url: str) -> None:
    """A read costs one round trip: there is no BEGIN before it."""
    opened = open_store(postgres_url)
    which = "SELECT pg_current_xact_id()::text"

    async with opened.database.reading() as connection:
        alone = {(await connection.exec_driver_sql(which)).scalar_one() for _ in range(2)}
    async with opened.database.writing() as connection:
        together = {(await connection.exec_driver_sql(which)).scalar_one() for _ in range(2)}

    await opened.close()
    assert (len(alone), len(together)) == (2, 1)


async def test_readers_and_writers_share_the_pool(postgres_url: str) -> None:
    opened = open_store(postgres_url, Limits(pool_size=1))

    async with opened.database.writing() as connection:
        first = (await connection.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()
    async with opened.database.reading() as connection:
        second = (await connection.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()

    await opened.close()
    assert first == second
