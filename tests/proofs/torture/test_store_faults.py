"""A store that fails around a payout, seen from outside: hardening 3.1."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import asyncpg
import pytest

from tests.proofs.torture import postgres
from tests.proofs.torture.gateway_client import GatewayClient, TortureWorld, torture_world_in
from tests.proofs.torture.postgres import Postgres
from tests.servers.postgres import PostgresServer
from tests.servers.small_disk import database_on, fill, small_disk
from tests.world.extent import WHOLE
from tests.world.stores.relay import relayed
from tests.world.waiting import until

FAILED = (500, "SVC.SYS.001")
TAKEN = (200, "processing")
IMPATIENT = {"migrate": "always", "auth_timeout_s": 2.0}
SOON_S = 18
"""A store is given up after five seconds; forty requests one batch after another take twenty."""


@asynccontextmanager
async def on_postgres(folder: Path) -> AsyncIterator[tuple[GatewayClient, Postgres, TortureWorld]]:
    """Serve from a PostgreSQL of our own; the partner is known already."""
    async with postgres.running() as server, torture_world_in(folder) as torture_world:
        database = {"url": server.url(), **IMPATIENT}
        gateway_client = await torture_world.gateway_client(
            "one", store=server.url(), database=database
        )
        await gateway_client.start()
        await gateway_client.read("nothing")
        await torture_world.control.delete("calls")
        yield gateway_client, server, torture_world


async def test_nothing_is_sent_while_the_store_is_down(tmp_path: Path):
    """
    500, and the bank is not called; when it is back the same request pays, once.

    After four seconds without the change feed no credential is accepted: 503, on a slow machine.
    """
    async with on_postgres(tmp_path) as (gateway_client, server, _):
        await server.crash()
        down = await gateway_client.pay("down")
        called = await gateway_client.orders()
        await server.start()
        back = await gateway_client.pay("down")
        executed = await gateway_client.executions("down")

    assert down in {FAILED, (503, "SVC.SYS.002")}
    assert called == 0
    assert (back, executed) == (TAKEN, [1050])


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
@pytest.mark.parametrize(
    ("value", "told", "executed"),
    [(10.5, TAKEN, [1050]), (777.03, (502, "SVC.PIX.010"), [])],
    ids=["acknowledged", "rejected"],
)
async def test_an_outcome_is_answered_when_the_store_goes_down_during_the_call(
    tmp_path: Path, value: float, told: tuple[int, str], executed: list[int]
):
    """
    An acknowledgement is true and therefore answered; a rejection only once it is stored.

    The bank stalls while the store goes down. After the quiet period both are consistent: one is
    paid, and the other is refused when it is requested again.
    """
    async with on_postgres(tmp_path) as (gateway_client, server, torture_world):
        torture_world.bank.kill(signal.SIGSTOP)
        asking = asyncio.create_task(gateway_client.pay("meanwhile", value))
        await _stored(server)
        await server.crash()
        torture_world.bank.kill(signal.SIGCONT)
        answered = await asking
        done = await gateway_client.executions("meanwhile")
        await server.start()
        gateway_client.command.kill()
        gateway_client.offset_s += 120
        await gateway_client.start()
        ends = await _ends(gateway_client, value)
        after = await gateway_client.executions("meanwhile")

    assert (answered, done) == (told, executed)
    assert ends == ((200, "paid") if executed else (400, "SVC.PIX.010"))
    assert after == executed


async def _stored(server: Postgres) -> None:
    """Wait until an intent is committed."""
    connection = await asyncpg.connect(server.url())
    await until(lambda: connection.fetchval("SELECT count(*) FROM payouts"))
    await connection.close()


async def _ends(gateway_client: GatewayClient, value: float) -> tuple[int, str]:
    """Ask again and read until it is decided."""
    ends: list[tuple[int, str]] = []

    async def has_ended() -> bool:
        again = await gateway_client.pay("meanwhile", value)
        shown = await gateway_client.read("meanwhile")
        ends.extend([again] if again[0] == 400 else [shown] if shown[1] != "processing" else [])
        return bool(ends)

    await until(has_ended)
    return ends[0]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_requests_fail_soon_while_a_table_is_locked(tmp_path: Path):
    """Forty concurrent ones all get a 500 within seconds: nothing piles up behind a slow store."""
    async with on_postgres(tmp_path) as (gateway_client, server, _):
        other = await asyncpg.connect(server.url())
        holding = other.transaction()
        await holding.start()
        await other.execute("LOCK TABLE payouts IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        slow = await asyncio.gather(*(gateway_client.pay(f"slow-{number}") for number in range(40)))
        took = time.monotonic() - began
        called = await gateway_client.orders()
        await holding.rollback()
        await other.close()
        after = await gateway_client.pay("slow-0")

    assert {verdict[0] for verdict in slow} <= {500, 503}
    assert called == 0
    assert took < SOON_S
    assert after == TAKEN


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_requests_fail_soon_while_the_store_is_silent(tmp_path: Path):
    """The connection stays open, and no answer arrives."""
    async with (
        postgres.running() as server,
        relayed(server.port) as road,
        torture_world_in(tmp_path) as torture_world,
    ):
        database = {"url": server.url(), **IMPATIENT}
        gateway_client = await torture_world.gateway_client(
            "one", store=server.url(), database=database
        )
        text = gateway_client.config.read_text()
        gateway_client.config.write_text(text.replace(f":{server.port}/", f":{road.port}/"))
        await gateway_client.start()
        await gateway_client.read("nothing")
        await torture_world.control.delete("calls")
        road.silent = True
        began = time.monotonic()
        silent = await gateway_client.pay("silent")
        took = time.monotonic() - began
        called = await gateway_client.orders()
        road.silent = False
        await road.cut()
        after = await gateway_client.pay("silent")
        executed = await gateway_client.executions("silent")

    assert silent[0] in (500, 503)
    assert (called, took < SOON_S) == (0, True)
    assert (after, executed) == (TAKEN, [1050])


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
@pytest.mark.parametrize(("held_s", "expected"), [(1.0, TAKEN), (30.0, FAILED)])
async def test_a_locked_sqlite_file_is_waited_for_up_to_five_seconds(
    tmp_path: Path, held_s: float, expected: tuple[int, str]
):
    """Then 500, and no call to the bank."""
    async with torture_world_in(tmp_path) as torture_world:
        database = {"url": f"sqlite:///{tmp_path / 'pixgate.db'}", **IMPATIENT}
        gateway_client = await torture_world.gateway_client("one", database=database)
        await gateway_client.start()
        await gateway_client.read("nothing")
        await torture_world.control.delete("calls")
        with closing(sqlite3.connect(tmp_path / "pixgate.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            asking = asyncio.create_task(gateway_client.pay("locked"))
            await asyncio.wait({asking}, timeout=held_s)
            other.execute("ROLLBACK")
            answered = await asking
            took = time.monotonic() - began
            called = await gateway_client.orders()
        after = await gateway_client.pay("locked")
        executed = await gateway_client.executions("locked")

    assert answered == expected
    assert called == (1 if expected == TAKEN else 0)
    assert took < SOON_S
    assert (after, executed) == (TAKEN, [1050])


FULL = (503, "SVC.GTW.006")
STORES = ("sqlite", "postgresql") if WHOLE else ("postgresql",)


@asynccontextmanager
async def on_a_small_disk(kind: str, server: PostgresServer) -> AsyncIterator[tuple[Path, str]]:
    """Give the disk, and the address of a store on it."""
    with small_disk() as disk:
        if kind == "sqlite":
            yield disk, f"sqlite:///{disk / 'pixgate.db'}"
        else:
            async with database_on(disk, server) as url:
                yield disk, url.replace("+asyncpg", "")


@pytest.mark.parametrize("kind", STORES)
async def test_nothing_is_sent_while_the_disk_is_full(
    tmp_path: Path, postgres_server: PostgresServer, kind: str
):
    """503 before anything is stored, and the bank is not called; it recovers without a restart."""
    async with (
        on_a_small_disk(kind, postgres_server) as (disk, url),
        torture_world_in(tmp_path) as torture_world,
    ):
        gateway_client = await torture_world.gateway_client("one", store=url)
        await gateway_client.start()
        await gateway_client.read("nothing")
        await torture_world.control.delete("calls")
        fill(disk / "filler")
        await until(lambda: is_refused(gateway_client))
        full = [await gateway_client.pay(f"full-{number}") for number in range(3)]
        called = await gateway_client.orders()
        (disk / "filler").unlink()
        await until(lambda: is_taken(gateway_client))
        executed = await gateway_client.executions("full-0")
        gateway_client.command.kill()

    assert set(full) == {FULL}
    assert called == 0
    assert executed == [1050]


async def is_refused(gateway_client: GatewayClient) -> bool:
    """Return whether the process says that it is not ready, and why."""
    async with gateway_client.session.get(gateway_client.command.answers) as said:
        checks = (await said.json())["checks"]
        return said.status == 503 and checks["store"] and not checks["writable"]


async def is_taken(gateway_client: GatewayClient) -> bool:
    """Pay; a refusal must be the one of a full store."""
    verdict = await gateway_client.pay("full-0")
    assert verdict in {FULL, TAKEN}
    return verdict == TAKEN
