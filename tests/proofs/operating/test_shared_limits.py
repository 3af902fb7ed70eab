"""
Four server processes, as of two nodes, with one PostgreSQL and one Redis: limits hold for all.

And while Redis stands still, is away or is full: nothing fails, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.proofs.torture import processes, sites
from tests.proofs.torture.gateway_client import GatewayClient, TortureWorld, torture_world_in
from tests.servers.process import free_port
from tests.world.extent import WHOLE
from tests.world.gateway.world import basic
from tests.world.waiting import until

pytestmark = pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
PROCESSES = 4
READ = {"rate": 50, "burst": 100}
FREE = {"rate": 1_000_000, "burst": 1_000_000}
BANK = {"rate": 10, "burst": 10}


class Valkey:
    """A server of its own, that a test stops and starts."""

    def __init__(self, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        assert program is not None
        where = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)]
        self.process = subprocess.Popen(
            [program, *where, "--save", ""], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )

    def send(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    async def up(self) -> None:
        async def answers() -> bool:
            client = Redis.from_url(self.url)
            try:
                return bool(await client.ping())
            except (OSError, RedisError):
                return False
            finally:
                await client.aclose()

        await until(answers)

    async def full(self) -> None:
        client = Redis.from_url(self.url)
        await client.config_set("maxmemory", 1)
        await client.aclose()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


class Nodes:
    """The processes, a partner who calls them in turn, and the Redis they share."""

    def __init__(self, client: GatewayClient, valkey: Valkey, bases: Sequence[str]) -> None:
        self.client, self.valkey, self.bases = client, valkey, bases
        self.ops: list[str] = []
        self.took_s = 0.0

    async def balance(self, number: int, authorization: str = "") -> int:
        """Ask a process; return the status."""
        path = f"{self.bases[number % PROCESSES]}/baas/v1/account/{self.client.account.id}/balance"
        headers = {"Authorization": authorization or self.client.account.authorization}
        async with self.client.session.get(path, headers=headers) as said:
            await said.read()
            return said.status

    async def asked(self, rate: int, seconds: float) -> list[int]:
        """Ask the processes so often a second; return what they said. ``took_s`` is set."""
        clock = asyncio.get_running_loop().time
        began = clock()
        tasks = []
        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                await asyncio.sleep(max(0.0, began + number / rate - clock()))
                tasks.append(group.create_task(self.balance(number)))
        self.took_s = clock() - began
        return [each.result() for each in tasks]

    async def answered_in_time(self) -> None:
        """Skip where one call of Redis in twenty was late: that measures this machine, not us."""
        counted = await self.counted()
        if counted["late"] + counted["failed"] > counted["answered"] / 20:
            pytest.skip(f"this machine is too busy: {counted}")

    async def counted(self) -> Counter[str]:
        """Add up the calls of Redis by how they ended."""
        found: Counter[str] = Counter()
        for each in self.ops:
            async with self.client.session.get(f"{each}/metrics") as said:
                for line in (await said.text()).splitlines():
                    if line.startswith("pixgate_shared_limits_calls_total{"):
                        name, _, value = line.partition("} ")
                        found[name.partition('result="')[2].rstrip('"')] += int(float(value))
        return found


@asynccontextmanager
async def nodes_in(
    world: TortureWorld, folder: Path, store: str, rates: dict[str, object], **provider: object
) -> AsyncIterator[Nodes]:
    valkey = Valkey(folder)
    try:
        await valkey.up()
        patient = sites.providers(world.target, **{**sites.PATIENT, **provider})
        client = await world.gateway_client(
            "site",
            store=store,
            ratelimits={"read": READ, "payout": FREE, "company": FREE, **rates},
            cache={"url": valkey.url},
            providers=patient,
        )
        commands = [
            processes.gateway(client.config.parent, client.config, f"node{number}")
            for number in range(PROCESSES)
        ]
        nodes = Nodes(client, valkey, [base for _, base in commands])
        nodes.ops = [each.answers.removesuffix("/readyz") for each, _ in commands]
        for command, _ in commands:
            world.opened.callback(command.kill)
            command.start(**{processes.OFFSET: str(world.offset_s)})
            assert await command.wait(world.session), command.said()
        yield nodes
    finally:
        valkey.stop()


async def test_a_quota_is_one_for_all_processes(tmp_path: Path, postgres_url: str):
    """300 calls a second for 8 s, where 50 a second and 100 at once are allowed."""
    async with (
        torture_world_in(tmp_path) as world,
        nodes_in(world, tmp_path, postgres_url, {}) as nodes,
    ):
        said = Counter(await nodes.asked(300, 8))
        await nodes.answered_in_time()

    allowed = READ["burst"] + READ["rate"] * nodes.took_s
    assert set(said) == {200, 429}
    assert said[200] == pytest.approx(allowed, rel=0.05)


async def test_wrong_secrets_of_a_client_are_let_through_twenty_times(
    tmp_path: Path, postgres_url: str
):
    async with (
        torture_world_in(tmp_path) as world,
        nodes_in(world, tmp_path, postgres_url, {}) as nodes,
    ):
        client_id = _client_id(nodes.client.account.authorization)
        wrong = basic({"client_id": client_id, "client_secret": "wrong"})
        said = [await nodes.balance(number, wrong) for number in range(200)]
        right = await nodes.balance(0)
        await nodes.answered_in_time()

    assert 20 <= said.count(401) <= 22  # a process that was not told in time lets one more through
    assert (said.count(401) + said.count(429), right) == (200, 200)


async def test_a_bank_is_asked_as_often_as_it_allows(tmp_path: Path, postgres_url: str):
    """Ten calls a second and ten at once, of all processes together."""
    async with (
        torture_world_in(tmp_path) as world,
        nodes_in(
            world,
            tmp_path,
            postgres_url,
            {"read": FREE},
            account_limits={"rates": {"get_balance": BANK}},
            waiting_s=0.1,
        ) as nodes,
    ):
        said = Counter(await nodes.asked(60, 10))
        await nodes.answered_in_time()

    allowed = BANK["burst"] + BANK["rate"] * nodes.took_s
    assert 0.85 * allowed <= said[200] <= allowed + 5


async def test_nothing_fails_and_nobody_waits_while_redis_is_stopped_full_or_gone(
    tmp_path: Path, postgres_url: str
):
    """In each state: no failure, each process its part, fewer than three waiting calls a second."""
    async with (
        torture_world_in(tmp_path) as world,
        nodes_in(world, tmp_path, postgres_url, {}) as nodes,
    ):
        found = {}
        waited = 0.0

        async def load(name: str) -> None:
            nonlocal waited
            said = await nodes.asked(100, 4)
            waited += nodes.took_s
            found[name] = (Counter(said), nodes.took_s)

        await load("healthy")
        nodes.valkey.send(signal.SIGSTOP)
        await load("stopped")
        nodes.valkey.send(signal.SIGCONT)
        await load("back")
        await nodes.valkey.full()
        await load("full")
        nodes.valkey.stop()
        await load("gone")
        nodes.valkey.start()
        await nodes.valkey.up()
        await load("back again")
        counted = await nodes.counted()

    assert all(set(statuses) <= {200, 429} for statuses, _ in found.values()), found
    assert all(statuses[200] >= 0.8 * READ["rate"] * took for statuses, took in found.values())
    assert counted["late"] + counted["failed"] <= 3 * PROCESSES * waited


def _client_id(authorization: str) -> str:
    return aiohttp.BasicAuth.decode(authorization).login
