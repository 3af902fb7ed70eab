"""
The wall clock is set two hours forward and back while payouts are under way.

Only the gateway's clock changes: the bank's stays right, and so does the monotonic clock. Orders
take time to reach the bank, so that the clock changes in the middle of some.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import aiohttp
import asyncpg
import pytest
from yarl import URL

from tests.proofs.operating import shifted
from tests.proofs.operating.load import Load
from tests.proofs.torture import processes
from tests.proofs.torture.gateway_client import GatewayClient, TortureWorld, torture_world_in
from tests.proofs.torture.processes import OFFSET
from tests.proofs.torture.sites import PATIENT, providers
from tests.servers.postgres import PostgresServer
from tests.servers.streams import listening
from tests.world.extent import WHOLE
from tests.world.waiting import until

RATE = 12
"""Orders a second: at a bank, one account has half of the calls at once."""
TRAVELS_S = 2.0
"""An order, to the bank; less than the gateway's patience."""
HOURS = 3600
WAYS = {
    "control": (),
    "forward and back": (2 * HOURS, 0),
    "back and forward": (-2 * HOURS, 0),
}
if not WHOLE:
    WAYS = {"back and forward": WAYS["back and forward"]}
FINAL = ((200, "paid"), (200, "failed"))


@asynccontextmanager
async def slow_for_orders(port: int) -> AsyncIterator[int]:
    """A road to the bank on which orders take their time; give its port."""

    async def carry(near: asyncio.StreamReader, near_out: asyncio.StreamWriter) -> None:
        far, far_out = await asyncio.open_connection("127.0.0.1", port)
        back = asyncio.create_task(_copied(far, near_out, 0.0))
        try:
            await _copied(near, far_out, TRAVELS_S)
        finally:
            back.cancel()
            far_out.close()
            near_out.close()

    async with listening(carry) as road:
        yield road


async def _copied(
    source: asyncio.StreamReader, target: asyncio.StreamWriter, order_s: float
) -> None:
    try:
        while data := await source.read(65536):
            if order_s and data.startswith(b"POST"):
                await asyncio.sleep(order_s)
            target.write(data)
            await target.drain()
    except OSError:
        pass
    finally:
        target.close()


@dataclass(slots=True)
class Clocked:
    """A gateway, and the file that its clock follows."""

    client: GatewayClient
    file: Path
    base_s: int

    def put(self, seconds: int) -> None:
        """Put its clock so far ahead, and partners' dates with it."""
        shifted.put(self.file, self.base_s + seconds)
        self.client.offset_s = self.base_s + seconds


@asynccontextmanager
async def gateway(world: TortureWorld, kind: str, store: str) -> AsyncIterator[Clocked]:
    port = URL(world.target.address.url).port
    async with slow_for_orders(port) as slow:
        far = providers(world.target.through(slow), **PATIENT)
        client = await world.gateway_client("site", store=store, kind=kind, providers=far)
        clocked = Clocked(client, world.folder / "clock", world.offset_s)
        clocked.put(0)
        client.command.module = shifted.__name__
        client.command.environ |= {shifted.FILE: str(clocked.file), OFFSET: str(world.offset_s)}
        client.command.start()
        assert await client.command.wait(world.session), client.command.said()
        yield clocked


async def _come_to_rest(clocked: Clocked, references: list[str]) -> dict[str, tuple[int, str]]:
    """Read every payout until none is under way."""
    seen: dict[str, tuple[int, str]] = {}

    async def is_at_rest() -> bool:
        seen.update({each: await clocked.client.read(each) for each in references})
        return all(found in FINAL for found in seen.values())

    await until(is_at_rest)
    return seen


@pytest.mark.parametrize("jumps", WAYS.values(), ids=WAYS)
async def test_a_clock_change_loses_no_money(
    jumps: tuple[int, ...], tmp_path: Path, postgres_server: PostgresServer, whole: bool
):
    """In the full run also at a bank that repeats its answer to a known key."""
    for kind in ("none", "idem") if whole else ("none",):
        (tmp_path / kind).mkdir()
        name = f"clock_{uuid.uuid4().hex}"
        url = await postgres_server.create(name)
        await _pays(tmp_path / kind, url, kind, jumps, 100 if whole else 40)
        await postgres_server.drop(name)


async def _pays(folder: Path, store: str, kind: str, jumps: tuple[int, ...], of_each: int) -> None:
    async with torture_world_in(folder) as world, gateway(world, kind, store) as clocked:
        load = Load(clocked.client, [clocked.client.base])
        async with load.at(RATE):
            await load.more(of_each)
            for each in jumps or (0, 0):
                clocked.put(each)
                await load.more(of_each)
        seen = await _come_to_rest(clocked, load.payouts)
        again = {each: await clocked.client.pay(each) for each in load.payouts}
        executed = {each: await clocked.client.executions(each) for each in load.payouts}

    found = {
        "not as it should be answered": load.errors,
        "not executed once": {each for each in executed if executed[each] != [1050]},
        "not paid": {each: said for each, said in seen.items() if said != (200, "paid")},
        "not repeated": {each: said for each, said in again.items() if said[0] != 200},
    }
    assert {each: wrong for each, wrong in found.items() if wrong} == {}
    assert len(load.payouts) > of_each


OPEN = "SELECT count(*) FROM payouts WHERE state <> 'paid'"


@dataclass(slots=True)
class Beside:
    """A process beside one whose clock is right, on one store."""

    clocked: Clocked
    store: asyncpg.Connection

    async def is_none_open(self) -> bool:
        """Return whether every payout is paid: a partner's read would look at it."""
        return bool(await self.store.fetchval(OPEN) == 0)


@asynccontextmanager
async def beside_a_right_one(folder: Path, server: PostgresServer) -> AsyncIterator[Beside]:
    """Run the right process; the other one is not started yet."""
    name = f"clock_{uuid.uuid4().hex}"
    url = await server.create(name)
    store = await asyncpg.connect(url.replace("+asyncpg", ""))
    async with torture_world_in(folder) as world:
        right = await world.gateway_client("site", store=url)
        await right.start()
        command, base = processes.gateway(folder, right.config, "wrong")
        world.opened.callback(command.kill)
        client = replace(right, base=base, command=command)
        clocked = Clocked(client, folder / "clock", world.offset_s)
        clocked.put(0)
        command.module = shifted.__name__
        command.environ |= {shifted.FILE: str(clocked.file), OFFSET: str(world.offset_s)}
        yield Beside(clocked, store)
    await store.close()
    await server.drop(name)


async def test_a_process_with_a_clock_ahead_is_not_ready_and_delays_no_payout(
    tmp_path: Path, postgres_server: PostgresServer
):
    """
    Payouts made through it before its proxy notices are planned two hours ahead.

    The process with the right clock queries them within a minute. The other one is ready again when
    its clock is right.
    """
    async with beside_a_right_one(tmp_path, postgres_server) as beside:
        clocked, client = beside.clocked, beside.clocked.client
        client.command.start()
        assert await client.command.wait(client.session), client.command.said()
        clocked.put(2 * HOURS)
        await until(lambda: says(client, 503, clock=False))
        shown = await ahead_s(client)
        paid = [await client.pay(f"ahead-{number}") for number in range(5)]
        await until(beside.is_none_open)
        clocked.put(0)
        await until(lambda: says(client, 200, clock=True))

    assert {status for status, _ in paid} == {200}
    assert shown == pytest.approx(2 * HOURS, abs=60)


async def test_a_process_that_starts_with_a_wrong_clock_is_not_ready(
    tmp_path: Path, postgres_server: PostgresServer
):
    async with beside_a_right_one(tmp_path, postgres_server) as beside:
        beside.clocked.put(-2 * HOURS)
        beside.clocked.client.command.start()

        await until(lambda: says(beside.clocked.client, 503, clock=False))


async def says(client: GatewayClient, status: int, *, clock: bool) -> bool:
    """Return whether the process answers so on ``/readyz``."""
    try:
        async with client.session.get(client.command.answers) as said:
            found = (await said.json())["checks"]
    except aiohttp.ClientError:
        return False
    # what a starting process has not checked yet is absent
    return said.status == status and found.get("clock") is clock and found.get("writable", False)


async def ahead_s(client: GatewayClient) -> float:
    async with client.session.get(client.command.answers.replace("readyz", "metrics")) as said:
        [shown] = re.findall(r"^pixgate_clock_ahead_seconds (\S+)", await said.text(), re.MULTILINE)
    return float(shown)
