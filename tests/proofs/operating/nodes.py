"""Four server processes, as of two nodes, with one PostgreSQL and one Redis."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.proofs.torture import processes, sites
from tests.proofs.torture.gateway_client import GatewayClient, TortureWorld
from tests.servers.process import free_port
from tests.servers.streams import Streams
from tests.world.waiting import until

PROCESSES = 4
READ = {"rate": 50, "burst": 100}
FREE = {"rate": 1_000_000, "burst": 1_000_000}


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


class Between:
    """Passes bytes to and from a server; answers wait for ``delay_s``."""

    def __init__(self, port: int) -> None:
        self.delay_s, self._to = 0.0, port
        self._streams = Streams(self._pass)

    async def open(self, port: int = 0) -> int:
        """Listen; return the port."""
        return await self._streams.open(port)

    async def close(self) -> None:
        """Refuse connections, and cut those there are."""
        await self._streams.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_connection("127.0.0.1", self._to)
        try:
            async with asyncio.TaskGroup() as group:
                there = group.create_task(self._copy(reader, asks, lambda: 0.0))
                back = group.create_task(self._copy(answers, writer, lambda: self.delay_s))
                await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
                there.cancel()
                back.cancel()
        finally:
            asks.close()

    async def _copy(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        delay_s: Callable[[], float],
    ) -> None:
        while data := await reader.read(65_536):
            await asyncio.sleep(delay_s())
            writer.write(data)
            await writer.drain()


class Nodes:
    """The processes, a partner calling them in turn, and their shared Redis."""

    def __init__(
        self, client: GatewayClient, valkey: Valkey, between: Between, bases: Sequence[str]
    ) -> None:
        self.client, self.valkey, self.between, self.bases = client, valkey, between, bases
        self.ops: list[str] = []
        self.took_s = 0.0

    async def balance(self, number: int, authorization: str = "") -> int:
        """Ask a process; return the status."""
        path = f"{self.bases[number % PROCESSES]}/baas/v1/account/{self.client.account.id}/balance"
        headers = {"Authorization": authorization or self.client.account.authorization}
        async with self.client.session.get(path, headers=headers) as said:
            await said.read()
            return said.status

    async def asked(self, rate: int, seconds: float, at: int | None = None) -> list[int]:
        """Ask one process or all in turn so often a second, and set ``took_s``."""
        clock = asyncio.get_running_loop().time
        began = clock()
        tasks = []
        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                await asyncio.sleep(max(0.0, began + number / rate - clock()))
                tasks.append(group.create_task(self.balance(number if at is None else at)))
        self.took_s = clock() - began
        return [each.result() for each in tasks]

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
    world: TortureWorld,
    folder: Path,
    store: str,
    rates: dict[str, object],
    provider: Mapping[str, object] = MappingProxyType({}),
    *,
    far: bool = False,
    **changed: object,
) -> AsyncIterator[Nodes]:
    """
    Start them; ``rates``, ``provider`` and what else is ``changed`` are as in config.yaml.

    If they are ``far``, they reach Redis through ``Nodes.between``.
    """
    valkey = Valkey(folder)
    between = Between(valkey.port)
    try:
        await valkey.up()
        port = await between.open(free_port()) if far else valkey.port
        patient = sites.providers(world.target, **{**sites.PATIENT, **provider})
        client = await world.gateway_client(
            "site",
            store=store,
            ratelimits={"read": READ, "payout": FREE, "company": FREE, **rates},
            providers=patient,
            cache={"url": f"redis://127.0.0.1:{port}/0"},
            **changed,
        )
        commands = [
            processes.gateway(client.config.parent, client.config, f"node{number}")
            for number in range(PROCESSES)
        ]
        nodes = Nodes(client, valkey, between, [base for _, base in commands])
        nodes.ops = [each.answers.removesuffix("/readyz") for each, _ in commands]
        for command, _ in commands:
            world.opened.callback(command.kill)
            command.start(**{processes.OFFSET: str(world.offset_s)})
            assert await command.wait(world.session), command.said()
        yield nodes
    finally:
        await between.close()
        valkey.stop()
