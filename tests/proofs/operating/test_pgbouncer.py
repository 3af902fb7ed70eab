"""
PgBouncer between the gateway and PostgreSQL, with fewer sessions than the pool has places.

At full size every contract test of the store goes by way of it, in both modes.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL

from gateway.app.store import prepare
from gateway.core.account import Environment
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.database import DEFAULT_LIMITS, Limits
from tests.proofs.operating.load import Load
from tests.proofs.torture.gateway_client import torture_world_in
from tests.proofs.torture.processes import ROOT
from tests.servers import pgbouncer
from tests.servers.postgres import PostgresServer
from tests.world.extent import WHOLE
from tests.world.store import open_store
from tests.world.stores.samples import now

SESSIONS = 4
CONTRACT = ROOT / "tests/contract/stores"
MODES = ["session", "transaction"]


@contextmanager
def behind(
    server: PostgresServer, mode: str, pooler: str, sessions: int = SESSIONS
) -> Iterator[URL]:
    """Return the server's address through PgBouncer, as the gateway's setting."""
    with pgbouncer.running(server.admin, mode, sessions) as url:
        yield url.update_query_dict({"pooler": pooler})


def text(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
@pytest.mark.parametrize("mode", MODES)
async def test_the_store_contract_passes_behind_pgbouncer(
    mode: str, postgres_server: PostgresServer
):
    assert DEFAULT_LIMITS.pool_size > SESSIONS
    with behind(postgres_server, mode, mode) as url:
        running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CONTRACT),
            *("-k", "postgres or test_network"),
            cwd=ROOT,
            env={**os.environ, "TEST_DATABASE_URL": text(url)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await running.communicate()

    assert running.returncode == 0, said.decode()[-5000:]


@pytest.mark.parametrize("mode", MODES if WHOLE else ["transaction"])
async def test_payouts_are_made_once_behind_pgbouncer(
    mode: str, tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
):
    name = postgres_url.rsplit("/", 1)[1]
    with behind(postgres_server, mode, "none") as url:
        async with torture_world_in(tmp_path) as world:
            database = {
                "url": text(url.set(database=name).difference_update_query(["pooler"])),
                "pooler": mode,
                "migrate": "always",
                "timeout_s": 60.0,
                "auth_timeout_s": 60.0,
            }
            partner = await world.gateway_client("site", store=postgres_url, database=database)
            await partner.start()
            load = Load(partner, [partner.base])
            async with load.at(40):
                await load.more(100)
            executed = [await partner.executions(each) for each in load.payouts]

    # certainly not sent is an honest answer of a busy machine; any other one is not
    assert load.errors.keys() <= {(502, "SVC.ACC.005")}
    assert len(load.payouts) > 40
    assert executed == [[1050]] * len(executed)


async def test_session_pooling_with_enough_sessions_needs_no_setting(
    postgres_server: PostgresServer, postgres_url: str
):
    """Its time-outs are set after the connection is made, not as start-up parameters."""
    name = postgres_url.rsplit("/", 1)[1]
    with behind(postgres_server, "session", "none", DEFAULT_LIMITS.pool_size) as url:
        store = open_store(text(url.set(database=name)))
        await prepare(store, Environment.SANDBOX, migrate=True, now=now)
        await asyncio.gather(*(store.check() for _ in range(100)))
        async with store.database.reading() as connection:
            kept = (await connection.exec_driver_sql("SHOW statement_timeout")).scalar_one()
        await store.close()

    assert kept == "5s"


async def test_an_error_of_a_shared_session_names_the_setting(
    postgres_server: PostgresServer, postgres_url: str
):
    """Prepared statements are missing when the next one reaches another session."""
    name = postgres_url.rsplit("/", 1)[1]
    with behind(postgres_server, "transaction", "none") as url:
        store = open_store(text(url.set(database=name)), Limits(pool_size=SESSIONS))

        async def read(pause_s: float) -> None:
            async with store.database.reading() as connection:
                await connection.exec_driver_sql(f"SELECT pg_sleep({pause_s})")

        async def read_on() -> None:
            """Sessions come free in another order each time, so a connection soon gets another."""
            for turn in itertools.count():
                pauses = [0.005 * ((turn * each) % 7) for each in range(SESSIONS)]
                await asyncio.gather(*map(read, pauses))

        with pytest.raises(StoreUnavailable) as caught:
            await read_on()
        await store.close()

    assert "prepared statement" in str(caught.value)
    assert "set database.pooler: transaction" in str(caught.value)


async def test_a_pooler_s_refusal_is_quoted(postgres_server: PostgresServer):
    with behind(postgres_server, "transaction", "transaction") as url:
        store = open_store(text(url.set(database="nowhere")))

        with pytest.raises(StoreUnavailable, match='database "nowhere" does not exist'):
            await store.check()
        await store.close()
