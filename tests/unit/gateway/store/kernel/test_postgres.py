"""PostgreSQL sessions: their settings, plans and connections."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from asyncpg.connection import LoggedQuery
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.postgres import open_server
from tests.servers.streams import Streams
from tests.world.banks.authority import Authority
from tests.world.store import open_store
from tests.world.stores.relay import relayed

PATIENT = Limits(checkout_s=60, connect_s=60, statement_s=2, whole_s=120)
"""A statement of two seconds has no answer; all else may take its time."""


@dataclass
class Session:
    """The one connection of a store, with a clock that stands still."""

    database: Database
    now: list[float]
    said: list[str] = field(default_factory=list)

    async def use(self) -> None:
        async with self.database.reading() as connection:
            await connection.exec_driver_sql("SELECT 1")

    async def drops(self, start: float, end: float, step: float) -> list[float]:
        """Use it every so often; when plans were dropped."""
        dropped = []
        for turn in range(round((end - start) / step) + 1):
            self.now[0] = start + turn * step
            self.said.clear()
            await self.use()
            dropped += [self.now[0]] * self.said.count("DISCARD PLANS")
        return dropped


@pytest.fixture
async def session(postgres_url: str) -> AsyncIterator[Session]:
    """A connection that is open, at 0 s."""
    now = [0.0]
    database = open_server(address(postgres_url), Limits(pool_size=1), lambda: now[0])
    opened = Session(database, now)

    def note(query: LoggedQuery) -> None:
        opened.said.append(query.query)

    async with database.reading() as connection:
        raw = await connection.get_raw_connection()
        raw.driver_connection.add_query_logger(note)
    yield opened
    async with database.reading() as connection:
        raw = await connection.get_raw_connection()
        raw.driver_connection.remove_query_logger(note)
    await database.close()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("statement_timeout", "61500ms"),
        ("idle_in_transaction_session_timeout", "61500ms"),
        ("jit", "off"),
        ("application_name", "pixgate"),
        ("transaction_isolation", "read committed"),
    ],
)
async def test_a_session_has_its_limits(postgres_url: str, setting: str, value: str) -> None:
    opened = open_store(postgres_url, Limits(statement_s=61.5))

    async with opened.database.writing() as connection:
        found = (await connection.exec_driver_sql(f"SHOW {setting}")).scalar_one()

    await opened.close()
    assert found == value


async def test_reads_have_no_transaction_and_writes_have_one(postgres_url: str) -> None:
    """A read costs one round trip, without BEGIN."""
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


async def test_a_plan_is_renewed_when_a_table_has_grown(session: Session) -> None:
    """A plan for an empty table would scan the full one, and the server keeps it."""

    async def plan(connection: AsyncConnection) -> str:
        lines = await connection.exec_driver_sql("EXPLAIN EXECUTE find(7)")
        return " ".join(lines.scalars())

    async with session.database.reading() as connection:
        for statement in (
            "CREATE TABLE grown (one int PRIMARY KEY) WITH (autovacuum_enabled = false)",
            "VACUUM grown",
            "SET plan_cache_mode = force_generic_plan",
            "PREPARE find(int) AS SELECT * FROM grown WHERE one = $1",
        ):
            await connection.exec_driver_sql(statement)
        plans = [await plan(connection)]
        await connection.exec_driver_sql("INSERT INTO grown SELECT generate_series(1, 10000)")
        plans.append(await plan(connection))

    session.now[0] = 60.0
    async with session.database.reading() as connection:
        plans.append(await plan(connection))

    assert ["Seq Scan" in each for each in plans] == [True, True, False]


async def test_a_young_connection_replans_at_twice_its_age(session: Session) -> None:
    dropped = await session.drops(0.0, 1.0, 0.0125)

    assert dropped == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8])


async def test_an_old_connection_replans_every_ten_seconds(session: Session) -> None:
    dropped = await session.drops(3600.0, 3630.0, 2.5)

    assert dropped == [3600.0, 3610.0, 3620.0, 3630.0]


async def test_a_connection_that_cannot_replan_is_replaced(postgres_url: str) -> None:
    where, now = address(postgres_url), [0.0]
    which = "SELECT pg_backend_pid()"
    assert where.port is not None

    async with relayed(where.port) as road:
        there = where.set(host="127.0.0.1", port=road.port)
        database = open_server(there, PATIENT, lambda: now[0])
        async with database.reading() as connection:
            first = (await connection.exec_driver_sql(which)).scalar_one()
        now[0], road.silent = 60.0, True
        later = asyncio.get_running_loop().call_later
        later(PATIENT.statement_s / 2, setattr, road, "silent", False)
        async with database.reading() as connection:
            second = (await connection.exec_driver_sql(which)).scalar_one()
        await database.close()

    assert first != second


async def test_an_unreachable_host_is_skipped(postgres_url: str):
    """Of several hosts the first that accepts writes is used."""
    port = urlsplit(postgres_url).port
    hosts = f"host=127.0.0.1:1&host=127.0.0.1:{port}&target_session_attrs=read-write"
    store = open_store(f"{postgres_url.replace(f'127.0.0.1:{port}', '')}?{hosts}")

    await store.check_writes()

    await store.close()


async def test_the_server_certificate_is_verified_with_the_authority_of_the_url(tmp_path: Path):
    """A server with another authority does not get the password."""
    ours, another = Authority(tmp_path), Authority(tmp_path, "another")
    trusted: list[bool] = []
    server = Streams(partial(shake_hands, ours.server(), trusted))
    port = await server.open(0)
    for authority in (ours, another):
        parameters = f"sslmode=verify-full&sslrootcert={authority.file}"
        store = open_store(f"postgresql://u:p@127.0.0.1:{port}/pix?{parameters}")
        with pytest.raises(StoreUnavailable):
            await store.check()
        await store.close()
    await server.close()

    assert trusted == [True, False]


async def shake_hands(
    context: ssl.SSLContext,
    trusted: list[bool],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Offer TLS as PostgreSQL does; note whether a client's first message came, then hang up."""
    await reader.readexactly(8)
    writer.write(b"S")
    try:
        await writer.start_tls(context)
        trusted.append(bool(await reader.read(1)))
    except OSError:  # ssl.SSLError is one
        trusted.append(False)
