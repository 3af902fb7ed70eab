"""Two cells, north and south: each a PostgreSQL, a gateway and companies, behind one HAProxy."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import asyncpg
import msgspec
from yarl import URL

from tests.proofs.torture import postgres, sites
from tests.proofs.torture.gateway_client import (
    BEHIND_A_PROXY,
    GatewayClient,
    TortureWorld,
    torture_world_in,
)
from tests.proofs.torture.postgres import Postgres
from tests.proofs.torture.processes import FAILPOINT, OFFSET, Command
from tests.proofs.torture.sites import Account
from tests.servers.front import Front, Node, haproxy_of_cells
from tests.world.banks.authority import Authority
from tests.world.waiting import until

NORTH, SOUTH = "north", "south"
_KEYS = ("pepper", "sealing_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a partner got: the status, the document and the trace of both."""

    status: int
    document: Mapping[str, object]
    trace_id: str


@dataclass(slots=True, kw_only=True)
class Cells:
    """
    The cells, and the proxy in front of them.

    Attributes:
        gateways: By cell, with its first company.
        stores: By cell.
        file: Names the cells, for ``pixgate cells``.
    """

    world: TortureWorld
    gateways: Mapping[str, GatewayClient]
    stores: Mapping[str, Postgres]
    file: Path
    front: Front
    session: aiohttp.ClientSession

    async def ask(
        self,
        method: str,
        path: str,
        account: Account | None,
        body: bytes | None = None,
        host: str = "",
    ) -> Answer:
        """Make one request through the proxy, its path as it is spelt."""
        headers = {"Content-Type": "application/json", **({"Host": host} if host else {})}
        if account is not None:
            headers["Authorization"] = account.authorization
        url = URL(self.front.url + path, encoded=True)
        async with self.session.request(method, url, data=body, headers=headers) as said:
            text = await said.text()
        document = json.loads(text)
        if said.status >= 400:
            assert document["trace_id"] == said.headers["X-Trace-ID"], document
        trace_id = said.headers["X-Trace-ID"]
        return Answer(status=said.status, document=document, trace_id=trace_id)

    async def pay(self, account: Account, reference: str) -> Answer:
        """Create a payout, or repeat it."""
        body = self.gateways[NORTH].order(reference)
        return await self.ask("POST", f"/baas/v1/account/{account.id}/withdraw", account, body)

    async def balance(self, account: Account) -> Answer:
        """Read a balance."""
        return await self.ask("GET", f"/baas/v1/account/{account.id}/balance", account)

    async def executions(self, account: Account, reference: str) -> int:
        """Count how often the bank made a payout."""
        gateway = self.gateways[NORTH]
        former, gateway.account = gateway.account, account
        try:
            return len(await gateway.executions(reference))
        finally:
            gateway.account = former

    async def command(self, *arguments: str, failpoint: str = "") -> tuple[int, str]:
        """Run ``pixgate``; return its exit status, negative where it was killed, and its output."""
        log = self.file.with_name("command.log")
        log.unlink(missing_ok=True)
        command = Command(arguments=[*arguments], log=log, answers="")
        offset = {OFFSET: str(self.world.offset_s)}
        command.start(**offset, **({FAILPOINT: failpoint} if failpoint else {}))
        return await command.ended(), command.said()

    async def cells(self, *arguments: str, failpoint: str = "") -> tuple[int, str]:
        """Run ``pixgate cells``."""
        name, *others = arguments
        told = ("cells", name, *others, "--cells", str(self.file))
        return await self.command(*told, failpoint=failpoint)

    async def rows(self, cell: str, query: str, *given: object) -> Sequence[asyncpg.Record]:
        """Read rows of a cell's database."""
        connection = await asyncpg.connect(self.stores[cell].url())
        try:
            found: Sequence[asyncpg.Record] = await connection.fetch(query, *given)
            return found
        finally:
            await connection.close()

    async def server_of(self, answer: Answer) -> str:
        """Return the backend that HAProxy logged; the line may come after the answer."""

        def logged() -> str:
            lines = self.front.log.read_text().splitlines()
            read = [json.loads(line) for line in lines if line.startswith("{") and line[-1] == "}"]
            found = {each["trace_id"]: each["server"] for each in read}
            return str(found.get(answer.trace_id, "")).partition("/")[0]

        return str(await until(logged))

    async def another_company(self, cell: str) -> Account:
        """Add a company to a cell."""
        config, target = self.gateways[cell].config, self.world.target
        made = await sites.furnish(config, self.world.control, f"{cell}-more", target)
        return next(each for each in made if each.kind == "idem")


@asynccontextmanager
async def cells_in(folder: Path) -> AsyncIterator[Cells]:
    """Start both, and write the map."""
    certificate = Authority(folder).sign("proxy")
    async with (
        postgres.running() as north,
        postgres.running() as south,
        torture_world_in(folder) as world,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, ssl=False)) as session,
    ):
        stores = {NORTH: north, SOUTH: south}
        gateways = {NORTH: await _gateway(world, NORTH, north)}
        known = json.loads((folder / NORTH / "var" / "keys.json").read_text())
        words = {f"NORTH_{name.upper()}": known[name] for name in _KEYS}
        (folder / "south.env").write_text("".join(f"{k}='{v}'\n" for k, v in words.items()))
        (folder / "north.env").write_text("")
        former = {name: os.environ.get(name) for name in words}
        os.environ.update(words)
        world.opened.callback(_restore, former)
        gateways[SOUTH] = await _gateway(
            world,
            SOUTH,
            south,
            sealing={"retired_keys": {"north": "${NORTH_SEALING_KEY}"}},
            auth={"basic": {"retired_peppers": {"north": "${NORTH_PEPPER}"}}},
        )
        routes, commands = folder / "cells.map", folder / "commands"
        routes.touch()
        file = folder / "cells.yaml"
        described = {
            name: {"config": str(each.config), "environment": f"{name}.env"}
            for name, each in gateways.items()
        }
        file.write_bytes(
            msgspec.yaml.encode({"map": "cells.map", "sockets": ["commands"], "cells": described})
        )
        nodes = {name: _node(each.command) for name, each in gateways.items()}
        for each in gateways.values():
            await each.start()
        with haproxy_of_cells(nodes, routes, commands, certificate) as front:
            made = Cells(
                world=world,
                gateways=gateways,
                stores=stores,
                file=file,
                front=front,
                session=session,
            )
            status, said = await made.cells("map")
            assert status == 0, said
            yield made


async def _gateway(
    world: TortureWorld, name: str, store: Postgres, **changed: object
) -> GatewayClient:
    books = {"start": False, "control_port": URL(world.bank.answers).port}
    return await world.gateway_client(
        name,
        store=store.url(),
        server=BEHIND_A_PROXY,
        sandbox_bank=books,
        identity={"origin": f"https://{name}.example"},
        **changed,
    )


def _node(command: Command) -> Node:
    return Node(
        port=int(command.environ["PIXGATE_PORT"]), ops=int(command.environ["PIXGATE_OPS_PORT"])
    )


def _restore(former: Mapping[str, str | None]) -> None:
    for name, value in former.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
