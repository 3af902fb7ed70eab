"""The bank as a process: two ports, a file that survives everything."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from provider_adapters.testing.sandbox.dialect import SandboxBank
from tests.unit.provider_adapters.testing.bank.conftest import Caller
from tests.world.tables import cases
from tests.world.waiting import until

ALONE = """
import asyncio, sys
from provider_adapters.testing.sandbox.dialect import SandboxBank

async def main():
    bank = SandboxBank(db_path=sys.argv[1], port=0, control_port=0, settle_after_s=1)
    await bank.start()
    print(bank.port, bank.control_port, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def everything(caller):
    """What the customer sees of all that is kept."""
    paths = ("", "/saldo", "/chaves", "/cobrancas/r-1", "/extrato", "/transferencias")
    return [(await caller.ask("GET", path)) for path in paths]


async def make_some(caller):
    account = f"/accounts/{caller.account['id']}"
    await caller.control("POST", f"{account}/keys", json={"type": "email", "key": "a@b.c"})
    body = {"reference": "r-1", "value": 10.50, "state": "paid"}
    await caller.control("POST", f"{account}/charges", json=body)
    await caller.pay_out(10_50)


async def test_a_restart_keeps_everything_but_faults_and_calls(caller, run_bank, wall):
    await make_some(caller)
    before = await everything(caller)
    await caller.control("POST", "/faults", json={"fault": "hang", "count": None})
    await caller.bank.close()

    caller.bank = await run_bank()

    assert await everything(caller) == before
    assert len((await caller.control("GET", "/calls"))[1]["data"]) == len(before)
    again, _ = await caller.pay_out(10_50)
    assert (again, len(await caller.executions())) == (200, 1)
    wall.move(1)
    _, settled = await caller.ask("GET", "/transferencias/por-chave/pk-1")
    assert settled["situacao"] == "LIQUIDADA"


@pytest.mark.process
async def test_kill_9_loses_nothing_that_was_answered(tmp_path):
    """The answer was given, so the money has moved and the key is known; later it settles."""
    path = str(tmp_path / "killed.db")
    async with aiohttp.ClientSession() as session:
        process, bank = start_alone(path)
        caller = Caller(bank, session)
        body = {"name": "L", "tax_number": "11222333000181", "balance": 100.00}
        _, caller.account = await caller.control("POST", "/accounts", json=body)
        _, first = await caller.pay_out(10_50)
        stop(process)
        process, caller.bank = start_alone(path)

        again = await caller.pay_out(10_50)
        _, ledger = await caller.control("GET", "/ledger")
        await caller.control("POST", "/clock", json={"offset_s": 5})
        _, settled = await caller.ask("GET", f"/transferencias/{first['id']}")
        executed = await caller.executions()
        stop(process)

    assert (again[0], again[1]["e2e"]) == (200, first["e2e"])
    assert ledger["balanced"] is True
    assert (settled["situacao"], len(executed)) == ("LIQUIDADA", 1)


def start_alone(path):
    process = subprocess.Popen([sys.executable, "-c", ALONE, path], stdout=subprocess.PIPE)
    port, control_port = map(int, process.stdout.readline().split())
    return process, SandboxBank(db_path=path, port=port, control_port=control_port)


def stop(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


async def test_time_passes_without_readers(caller, wall):
    """The background task settles; nothing asks before the ledger is looked at from outside."""
    await caller.pay_out(10_50)
    wall.move(1)

    with contextlib.closing(sqlite3.connect(caller.bank.db_path)) as reader:
        await until(
            lambda: reader.execute("SELECT state FROM payouts").fetchall() == [("settled",)]
        )


@cases("host", ["192.0.2.1", "10.0.0.1", "::"])
def test_only_loopback_is_listened_on(host):
    with pytest.raises(ValueError, match="loopback"):
        SandboxBank(db_path="never", host=host)


async def test_a_port_in_use_leaves_nothing_open(caller, run_bank, tmp_path):
    with pytest.raises(OSError, match="in use"):
        await run_bank(db_path=str(tmp_path / "2.db"), control_port=caller.bank.control_port)

    assert (await caller.ask("GET", "/saldo"))[0] == 200


async def test_closing_twice_is_fine_and_hanging_requests_are_cut(caller):
    await caller.control("POST", "/faults", json={"fault": "hang"})
    hanging = asyncio.create_task(caller.ask("GET", "/saldo"))
    await until(caller.calls)

    await caller.bank.close()
    await caller.bank.close()

    with pytest.raises(aiohttp.ClientError):
        await hanging


def test_the_schema_travels_with_the_package():
    assert Path("provider_adapters/testing/bank/kernel/schema.sql").is_file()
