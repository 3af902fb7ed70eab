"""What each kind of pooler makes of sessions; PgBouncer itself: ``tests/proofs/operating``."""

from __future__ import annotations

import pytest
from asyncpg.connection import LoggedQuery
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Limits
from gateway.store.kernel.poolers import Pooler, driver_options, pooler_of, without_pooler
from tests.world.store import open_store
from tests.world.waiting import until

TIMEOUTS = ("statement_timeout", "idle_in_transaction_session_timeout")
SLEEPING = """
SELECT count(*) FROM pg_stat_activity
WHERE query LIKE 'SELECT pg_sleep%%' AND state = 'active' AND datname = current_database()
"""
ONE = Limits(pool_size=1, statement_s=61.5)


@pytest.mark.parametrize("pooler", ["none", "session", "transaction"])
def test_a_url_may_name_the_pooler(pooler: Pooler) -> None:
    url = address(f"postgresql://db/pix?sslmode=require&pooler={pooler}")

    assert pooler_of(url) == pooler
    assert dict(without_pooler(url).query) == {"ssl": "require"}


def test_no_pooler_is_the_default() -> None:
    assert pooler_of(address("postgresql://db/pix")) == "none"


@pytest.mark.parametrize("given", ["Transaction", "statement"])
def test_an_unknown_pooler_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="none, session, transaction"):
        pooler_of(address(f"postgresql://db/pix?pooler={given}"))


def test_statements_are_prepared_only_on_sessions_of_our_own() -> None:
    assert not driver_options("none")
    assert not driver_options("session")
    assert set(driver_options("transaction").values()) == {0}


async def shown(connection: AsyncConnection) -> list[str]:
    return [(await connection.exec_driver_sql(f"SHOW {name}")).scalar_one() for name in TIMEOUTS]


async def pid(connection: AsyncConnection) -> int:
    found: int = (await connection.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()
    return found


@pytest.mark.parametrize("pooler", ["none", "session", "transaction"])
async def test_writing_transactions_have_their_timeouts(postgres_url: str, pooler: Pooler) -> None:
    store = open_store(f"{postgres_url}?pooler={pooler}", ONE)

    async with store.database.writing() as connection:
        found = await shown(connection)

    await store.close()
    assert found == ["61500ms", "61500ms"]


async def test_an_idle_connection_sends_keepalives(postgres_url: str) -> None:
    store = open_store(postgres_url, ONE)

    async with store.database.reading() as connection:
        shown = await connection.exec_driver_sql("SHOW tcp_keepalives_idle")
        idle_s = shown.scalar_one()

    await store.close()
    assert idle_s == "60"


async def test_a_transaction_leaves_nothing_in_a_pooled_session(postgres_url: str) -> None:
    """The session's next transaction may belong to another client."""
    store = open_store(f"{postgres_url}?pooler=transaction", ONE)
    said: list[str] = []

    def note(query: LoggedQuery) -> None:
        said.append(query.query)

    async with store.database.reading() as connection:
        before = await shown(connection)
        raw = await connection.get_raw_connection()
        raw.driver_connection.add_query_logger(note)
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("SELECT 1")
    async with store.database.reading() as connection:
        after = await shown(connection)
        named = await connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements")
        prepared = named.scalar_one()
        raw = await connection.get_raw_connection()
        raw.driver_connection.remove_query_logger(note)
    await store.close()

    assert before == after == ["0", "0"]
    assert prepared == 0
    assert not [each for each in said if each.upper().startswith("SET ")]


async def test_a_read_without_a_transaction_has_our_own_time_limit(postgres_url: str) -> None:
    store = open_store(f"{postgres_url}?pooler=transaction", Limits(statement_s=0.3))

    with pytest.raises(StoreUnavailable):
        async with store.database.reading() as connection:
            await connection.exec_driver_sql("SELECT pg_sleep(60)")
    await store.close()
    patient = open_store(postgres_url)

    async def is_over() -> bool:
        async with patient.database.reading() as connection:
            return not (await connection.exec_driver_sql(SLEEPING)).scalar_one()

    await until(is_over)
    await patient.close()


@pytest.mark.parametrize(("pooler", "same"), [("none", True), ("session", False)])
async def test_a_connection_is_returned_at_once_behind_a_pooler(
    postgres_url: str, pooler: Pooler, same: bool
) -> None:
    store = open_store(f"{postgres_url}?pooler={pooler}", ONE)

    async with store.database.reading() as connection:
        first = await pid(connection)
    async with store.database.writing() as connection:
        second = await pid(connection)

    await store.close()
    assert (first == second) is same
