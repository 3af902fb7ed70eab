"""The restore drill: a backup without recent payouts is restored, and none is paid twice."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from tests.proofs.torture import postgres
from tests.proofs.torture.gateway_client import GatewayClient, torture_world_in
from tests.proofs.torture.postgres import Postgres
from tests.world.extent import WHOLE
from tests.world.waiting import until

BEFORE, AFTER = ("paid-before-1", "paid-before-2"), ("paid-after-1", "paid-after-2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """How a store is saved and put back, while no gateway runs."""

    url: str
    save: Callable[[GatewayClient], None]
    put_back: Callable[[GatewayClient], None]


def _file(gateway_client: GatewayClient) -> Path:
    return gateway_client.config.parent / "pixgate.db"


def _save_file(gateway_client: GatewayClient) -> None:
    shutil.copy(_file(gateway_client), _file(gateway_client).with_suffix(".bak"))


def _put_file_back(gateway_client: GatewayClient) -> None:
    for suffix in ("-wal", "-shm"):
        _file(gateway_client).with_name(f"pixgate.db{suffix}").unlink(missing_ok=True)
    shutil.copy(_file(gateway_client).with_suffix(".bak"), _file(gateway_client))


@asynccontextmanager
async def sqlite_backup() -> AsyncIterator[Backup]:
    yield Backup(url="", save=_save_file, put_back=_put_file_back)


@asynccontextmanager
async def postgres_backup() -> AsyncIterator[Backup]:
    """Save with pg_dump; the database is then dropped and created again."""
    async with postgres.running() as server:
        if not (server.binaries / "pg_dump").exists():
            pytest.skip("this PostgreSQL comes without pg_dump")
        dump = server.folder / "dump"
        yield Backup(
            url=server.url(),
            save=lambda _till: _run(server, "pg_dump", "-Fc", "-f", str(dump), server.url()),
            put_back=lambda _till: _recreate(server, dump),
        )


def _run(server: Postgres, program: str, *arguments: str) -> None:
    # the bundled libraries stand beside the programs and are found from there
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    subprocess.run([server.binaries / program, *arguments], check=True, env=environ)


def _recreate(server: Postgres, dump: Path) -> None:
    asyncio.run(_emptied(server))
    _run(server, "pg_restore", "-d", server.url(), str(dump))


async def _emptied(server: Postgres) -> None:
    connection = await asyncpg.connect(server.url(database="postgres"))
    await connection.execute("DROP DATABASE pixgate WITH (FORCE)")
    await connection.execute("CREATE DATABASE pixgate")
    await connection.close()


DRILLS = [
    pytest.param(store, kind, id=f"{name}-{kind}")
    for name, store in {"sqlite": sqlite_backup, "postgres": postgres_backup}.items()
    for kind in ("idem", "dup", "none")
    if WHOLE or (name, kind) == ("sqlite", "none")
]


async def stop(gateway_client: GatewayClient) -> None:
    gateway_client.command.kill(signal.SIGINT)
    await gateway_client.command.ended()


async def until_shown(gateway_client: GatewayClient, reference: str, status: str) -> None:
    async def is_shown() -> bool:
        return await gateway_client.read(reference) == (200, status)

    await until(is_shown)


async def forgotten(gateway_client: GatewayClient, backup: Backup) -> None:
    await gateway_client.start()
    assert [await gateway_client.pay(each) for each in BEFORE] == [(200, "processing")] * 2
    await stop(gateway_client)
    await asyncio.to_thread(backup.save, gateway_client)
    await gateway_client.start()
    assert [await gateway_client.pay(each) for each in AFTER] == [(200, "processing")] * 2
    for each in AFTER:
        await until_shown(gateway_client, each, "paid")
    await stop(gateway_client)
    await asyncio.to_thread(backup.put_back, gateway_client)


@pytest.mark.parametrize(("store", "kind"), DRILLS)
async def test_restoring_with_look_first_finds_payouts_missing_from_the_backup(
    tmp_path: Path, store, kind: str
):
    """
    Rule R10, for every kind of bank.

    The same references are posted again: the rows are restored, and nothing is executed twice.
    """
    async with store() as backup, torture_world_in(tmp_path) as torture_world:
        gateway_client = await torture_world.gateway_client("drill", store=backup.url, kind=kind)
        await forgotten(gateway_client, backup)

        await gateway_client.start(PIXGATE_LOOK_FIRST="true")
        absent = [await gateway_client.read(each) for each in AFTER]
        again = [await gateway_client.pay(each) for each in (*BEFORE, *AFTER)]
        for each in (*BEFORE, *AFTER):
            await until_shown(gateway_client, each, "paid")
        new = await gateway_client.pay("never-seen")
        executed = [
            await gateway_client.executions(each) for each in (*BEFORE, *AFTER, "never-seen")
        ]

    assert absent == [(404, "SVC.PIX.011")] * 2
    assert again == [(200, "processing")] * 4
    assert new == (200, "processing")
    assert executed == [[1050]] * 5


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_without_look_first_a_bank_that_ignores_keys_pays_again(tmp_path: Path):
    """The loss that the setting prevents."""
    async with sqlite_backup() as backup, torture_world_in(tmp_path) as torture_world:
        gateway_client = await torture_world.gateway_client("careless", kind="none")
        await forgotten(gateway_client, backup)

        await gateway_client.start()
        again = await gateway_client.pay(AFTER[0])
        executed = await gateway_client.executions(AFTER[0])

    assert again == (200, "processing")
    assert executed == [1050, 1050]
