"""A pair of gateways behind HAProxy, some load, and a real Prometheus that scrapes all three."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

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
from tests.deploy.rule_cases import ALERTS, PLACE, ROOT, RULES
from tests.servers.front import Front, Node, patient_haproxy
from tests.servers.process import free_port, serving
from tests.servers.promtool import program
from tests.world.banks.authority import Authority
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

T = TypeVar("T")

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
        front: HAProxy before both.
        url: Of Prometheus.
        reload: What SIGHUP asks of the first.
    """

    world: World
    other: Gateway
    front: Front
    url: str
    reload: Reload

    async def ask(self, path: str, **query: str) -> Any:
        """Query Prometheus; None without an answer."""
        async with self.world.session.get(f"{self.url}/api/v1/{path}", params=query) as said:
            document = await said.json()
            return document["data"] if said.ok else {"error": document["error"]}

    async def until(self, path: str, holds: Callable[[Any], object], **query: str) -> Any:
        """Ask until an answer holds, and return it."""

        async def asked() -> Any:
            data = await self.ask(path, **query)
            return data if holds(data) else None

        return await until(asked)

    async def call_the_front(self) -> int:
        """Read the health through HAProxy; return the status."""
        url = f"{self.front.url}/baas/v1/health"
        async with self.world.session.get(url, ssl=False) as answer:
            return answer.status

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
        async with running(other), AsyncExitStack() as servers:
            reload = Reload(world.gateway, partial(read_settings, folder / "missing.yaml", {}))
            soon = folder / "soon.json"  # the alerts as they are, but for the wait before they fire
            eager = [{**rule, "for": "0s"} for rule in RULES]
            soon.write_text(json.dumps({"groups": [{"name": "soon", "rules": eager}]}))
            one, two = (
                Node(port=each.public.port, ops=each.operations.port)
                for each in (world.gateway, other)
            )
            certificate = Authority(folder).sign("front")
            front = await _kept(servers, patient_haproxy(one, two, certificate))
            targets = {
                "gateway": [f"127.0.0.1:{node.ops}" for node in (one, two)],
                "haproxy": [urlsplit(front.metrics).netloc],
            }
            log, command = _prometheus(folder, targets, soon)
            await _kept(servers, serving(command, log=log, ready=lambda: READY in log.read_text()))
            url = f"http://127.0.0.1:{LISTENING.findall(log.read_text())[0]}"
            yield Observed(world=world, other=other, front=front, url=url, reload=reload)


async def _kept(servers: AsyncExitStack, server: AbstractContextManager[T]) -> T:
    """Start a server beside this loop, and end it with the others."""
    started = await asyncio.to_thread(server.__enter__)
    servers.push_async_callback(asyncio.to_thread, server.__exit__, None, None, None)
    return started


def _prometheus(
    folder: Path, targets: Mapping[str, list[str]], soon: Path
) -> tuple[Path, list[str | Path]]:
    """Write the configuration of deploy/ with our targets and short pauses; return the command."""
    jobs = [job for job in CONFIG["scrape_configs"] if job["job_name"] in targets]
    config = {
        "global": {**CONFIG["global"], "scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ALERTS), str(soon)],
        "scrape_configs": [
            {
                "job_name": job["job_name"],
                "params": job.get("params", {}),
                "static_configs": [{"targets": targets[job["job_name"]], "labels": dict(PLACE)}],
            }
            for job in jobs
        ],
    }
    file = folder / "prometheus.json"  # JSON is YAML
    file.write_text(json.dumps(config))
    return folder / "prometheus.log", [
        program("prometheus"),
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'series'}",
        "--web.listen-address=127.0.0.1:0",
        "--enable-feature=exemplar-storage",
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
    for _ in range(3):
        await observed.call_the_front()
    url, headers = (
        f"http://127.0.0.1:{observed.other.public.port}",
        {"Authorization": basic(world.pair("full"))},
    )
    for _ in range(3):
        await send(world.session, url, "GET", world.at("/balance"), headers=headers)
