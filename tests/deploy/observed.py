"""A pair of gateways on one PostgreSQL, some load, and a real Prometheus that scrapes both."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import yaml

from gateway.app.assembly import Gateway, assemble
from gateway.app.commands.reload import Reload
from gateway.app.lifecycle import running
from gateway.config.reading import read_settings
from gateway.config.settings import Cache, Database, RateLimits
from gateway.config.values import Address
from gateway.core.limits import CallRate
from gateway.process.process import Part
from tests.deploy.rule_cases import ALERTS, PLACE, ROOT
from tests.servers.process import free_port, serving
from tests.servers.promtool import program
from tests.world.gateway.world import (
    FROM_NOON,
    World,
    basic,
    opened,
    order,
    other_secret,
    sandbox,
    send,
)
from tests.world.identity import LITTLE
from tests.world.waiting import until

CONFIG = yaml.safe_load((ROOT / "deploy/prometheus.yml").read_text())
RUNBOOKS: str = CONFIG["global"]["external_labels"]["runbooks"]
SCARCE = RateLimits(read=CallRate(rate=0.01, burst=1))
LISTENING = re.compile(r'msg="Listening on" address=127\.0\.0\.1:(\d+)')
READY = "Server is ready to receive web requests."


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """
    What Prometheus sees.

    Attributes:
        world: A gateway that serves and works, with its bank.
        other: A server process beside it, in which reads are scarce; nobody reaches its cache.
        url: Of Prometheus.
        reload: What SIGHUP asks of the first.
    """

    world: World
    other: Gateway
    url: str
    reload: Reload

    async def ask(self, path: str, **query: str) -> Any:
        """Ask Prometheus; what is not answered is None."""
        async with self.world.session.get(f"{self.url}/api/v1/{path}", params=query) as said:
            document = await said.json()
            return document["data"] if said.ok else {"error": document["error"]}

    async def until(self, path: str, holds: Callable[[Any], object], **query: str) -> Any:
        """Ask until an answer holds, and return it."""

        async def asked() -> Any:
            data = await self.ask(path, **query)
            return data if holds(data) else None

        return await until(asked)

    async def read_statement(self) -> int:
        """Read today's statement, which is looked for in the shared cache; return the status."""
        today = self.world.today()
        answer = await self.world.ask(
            "GET", self.world.at(f"/transactions?init={today}&ends={today}&limit=1")
        )
        return answer.status


@asynccontextmanager
async def observing(folder: Path, database: str) -> AsyncIterator[Observed]:
    """Run it all for the length of the block; ``database`` has a schema and nothing in it."""
    settings = sandbox(
        folder,
        database=Database(url=Address(database), auth_timeout_s=60, timeout_s=60, pool=4),
        cache=Cache(url=Address(f"redis://127.0.0.1:{free_port()}/0")),
    )
    second = msgspec.structs.replace(settings, ratelimits=SCARCE)
    async with opened(settings) as world:
        other = assemble(second, FROM_NOON, with_bank=False, part=Part(works=False), cost=LITTLE)
        async with running(other):
            reload = Reload(world.gateway, partial(read_settings, folder / "missing.yaml", {}))
            soon = folder / "soon.yaml"  # the rules as they are, but for the wait before they fire
            soon.write_text(re.sub(r"for: \d+m", "for: 0s", ALERTS.read_text()))
            targets = [each.operations.port for each in (world.gateway, other)]
            log, command = _prometheus(folder, targets, soon)
            stack = serving(command, log=log, ready=lambda: READY in log.read_text())
            await asyncio.to_thread(stack.__enter__)
            try:
                url = f"http://127.0.0.1:{LISTENING.findall(log.read_text())[0]}"
                yield Observed(world=world, other=other, url=url, reload=reload)
            finally:
                await asyncio.to_thread(stack.__exit__, None, None, None)


def _prometheus(folder: Path, ports: list[int], soon: Path) -> tuple[Path, list[str | Path]]:
    """Write the configuration of deploy/ with our targets and short pauses; return the command."""
    targets = [f"127.0.0.1:{port}" for port in ports]
    found = {"targets": targets, "labels": dict(PLACE)}
    [job] = CONFIG["scrape_configs"]
    config = {
        "global": {**CONFIG["global"], "scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ALERTS), str(soon)],
        "scrape_configs": [{"job_name": job["job_name"], "static_configs": [found]}],
    }
    file = folder / "prometheus.json"  # JSON is YAML
    file.write_text(json.dumps(config))
    return folder / "prometheus.log", [
        program("prometheus"),
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'series'}",
        "--web.listen-address=127.0.0.1:0",
    ]


async def load(observed: Observed) -> None:
    """Do a little of everything: pay, read, repeat, be refused, limited and failed."""
    world, today = observed.world, observed.world.today()
    await world.ask("GET", world.at("/balance"))
    for reference in ("paid", "paid", "other"):
        await world.pay(order(reference, today))
    await world.pay(order("paid", today, value=11, unheard_of=1))
    await world.pay(order("wrong", today, value=-1))
    await world.settled("paid")
    await world.ask("GET", world.at("/balance"), pair=other_secret(world.pair("full")))
    async with world.failing("balance", "status", status=500):
        await world.ask("GET", world.at("/balance"))
    await observed.read_statement()
    url, headers = (
        f"http://127.0.0.1:{observed.other.public.port}",
        {"Authorization": basic(world.pair("full"))},
    )
    for _ in range(3):
        await send(world.session, url, "GET", world.at("/balance"), headers=headers)
