"""HAProxy in front of cells: which one a request goes to, and a map that changes while it runs."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from gateway.cells.haproxy import replace_map
from gateway.cells.routing import written
from gateway.core.audit_context import RuleViolation
from tests.servers.front import Front, Node, haproxy_of_cells
from tests.servers.process import free_port
from tests.world.banks.authority import Authority
from tests.world.gateway.world import basic
from tests.world.waiting import until

pytestmark = pytest.mark.process

OURS = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
THEIRS = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c02"
NOBODYS = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"
FAILED = r'haproxy_backend_http_responses_total\{proxy="([^"]*)",code="5xx"\} (\d+)'
MAP = {
    "first": "north",
    "cli_north": "north",
    OURS: "north",
    "north.example": "north",
    "7a7a": "north",
    "cli_south": "south",
    THEIRS: "south",
    "south.example": "south",
    "8b8b": "south",
    "cli_gone": "east",
}


@dataclass(frozen=True, slots=True)
class Cells:
    """The proxy, and a client of it."""

    front: Front
    routes: Path
    session: aiohttp.ClientSession

    async def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        """Return the status, and the cell that answered or the code of the proxy's own answer."""
        url = URL(self.front.url + path, encoded=True)
        async with self.session.request(method, url, headers=headers) as said:
            document = json.loads(await said.text())
        if said.status != 200:
            assert document["trace_id"] == said.headers["X-Trace-ID"] != ""
            return said.status, document["code"]
        return said.status, document["cell"]

    async def cell(self, path: str, method: str = "GET", **headers: str) -> str:
        return (await self.ask(path, method, **headers))[1]


@asynccontextmanager
async def answering(cell: str) -> AsyncIterator[Node]:
    """Answer everything with the name of a cell."""

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"cell": cell})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner, port = web.AppRunner(app), free_port()
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield Node(port=port, ops=port)
    finally:
        await runner.cleanup()


@asynccontextmanager
async def running(
    folder: Path, entries: Mapping[str, str] = MAP, alive: Sequence[str] = ("north", "south")
) -> AsyncIterator[Cells]:
    """Run cells and the proxy, until all that are alive are in and no other one is."""
    certificate, routes = Authority(folder).sign("proxy"), folder / "cells.map"
    routes.write_text(written(entries))
    async with AsyncExitStack() as stack:
        nodes = {name: Node(port=free_port(), ops=free_port()) for name in ("north", "south")}
        for name in alive:
            nodes[name] = await stack.enter_async_context(answering(name))
        front = stack.enter_context(
            haproxy_of_cells(nodes, routes, folder / "commands", certificate)
        )
        connector = aiohttp.TCPConnector(ssl=False)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        cells = Cells(front, routes, session)
        if entries:
            for name in nodes:
                expected = name if name in alive else "SVC.GTW.006"
                await until(lambda name=name, said=expected: _says(cells, name, said))
        yield cells


async def _says(cells: Cells, name: str, expected: str) -> bool:
    return await cells.cell("/", Host=f"{name}.example") == expected


def partner(client_id: str) -> str:
    return basic({"client_id": client_id, "client_secret": "s:e:c"})


def account(spelling: str) -> str:
    return f"/baas/v1/account/{spelling}/balance"


async def test_a_request_is_routed_by_credential_account_token_and_host(tmp_path: Path):
    """A path cannot lead a request out of the cell of its credential."""
    south, unknown = partner("cli_south"), partner("cli_new")
    spellings = [
        *(OURS, OURS.upper(), f"%30{OURS[1:]}", f"x/../{OURS}", f"/{OURS}", f"{OURS}%00"),
        *(NOBODYS, "..", f"{THEIRS}/../../{OURS}", f"{OURS};{THEIRS}"),
    ]
    async with running(tmp_path) as cells:
        for method in ("GET", "POST"):
            for each in spellings:
                path = account(each)
                assert await cells.cell(path, method, Authorization=south) == "south", path
            for authorization in (unknown, "Basic !", "Basic", "Bearer a.b.c", "basic  eA=="):
                asked = {"Authorization": authorization}
                assert await cells.cell(account(THEIRS), method, **asked) == "south"
                assert await cells.cell(account(THEIRS.upper()), method, **asked) == "south"
                assert await cells.cell(account(OURS), method, **asked) == "north"
                assert await cells.cell(account(NOBODYS), method, **asked) == "north"
            assert await cells.cell(account(THEIRS), method) == "south"
            assert await cells.cell(f"/events/v1/account/{THEIRS}/events", method) == "south"
            assert await cells.cell(f"/sandbox/v1/account/{THEIRS}/top-up", method) == "south"
            assert await cells.cell("/callbacks/bank/8b8b/pix", method) == "south"
            assert await cells.cell("/callbacks/bank/none", method) == "north"
            assert await cells.cell("/callbacks/bank/none", method, Host="south.example") == "south"
            assert await cells.cell("/panel", method, Host="SOUTH.example:443") == "south"
            assert await cells.cell("/iam/v1/info", method, Host="other.example") == "north"
            forged = {"X-Pixgate-Cell": "south", "Host": "north.example"}
            assert await cells.cell("/panel", method, **forged) == "north"


async def test_a_request_of_no_cell_gets_503(tmp_path: Path):
    """For a cell missing in cells.cfg, and with an empty map."""
    async with running(tmp_path) as cells:
        for method in ("GET", "POST"):
            asked = await cells.ask("/", method, Authorization=partner("cli_gone"))
            assert asked == (503, "SVC.GTW.006")
    async with running(tmp_path, {}) as cells:
        for method in ("GET", "POST"):
            assert await cells.ask(account(OURS), method) == (503, "SVC.GTW.006")


async def test_the_proxy_s_answers_for_a_dead_cell_are_in_its_metrics(tmp_path: Path):
    """A cell's availability is computed from them; the other cell has none."""
    dead = {**MAP, "cli_dead": "south"}
    async with running(tmp_path, dead, alive=("north",)) as cells:
        for method in ("GET", "POST"):
            asked = await cells.ask("/", method, Authorization=partner("cli_dead"))
            assert asked == (503, "SVC.GTW.006")
        async with cells.session.get(cells.front.metrics) as said:
            figures = await said.text()

    failed = {
        proxy for proxy, number in re.findall(FAILED, figures) if "-" in proxy and float(number)
    }
    assert failed == {"reads-south", "gateways-south"}


async def test_a_new_map_takes_effect_without_a_restart(tmp_path: Path):
    """A held company is served by no cell; a moved one is answered by the other cell."""
    others = {f"cli_{number:05}": "south" for number in range(5_000)}
    async with running(tmp_path) as cells:
        ours = partner("cli_north")
        for cell, expected in (("held", (503, "SVC.GTW.006")), ("south", (200, "south"))):
            entries = {**others, **MAP, "cli_north": cell}
            await replace_map(cells.front.commands, cells.routes, entries)
            for method in ("GET", "POST"):
                assert await cells.ask("/", method, Authorization=ours) == expected
            last = partner("cli_04999")
            assert await cells.cell("/", Authorization=last) == "south"
        with pytest.raises(RuleViolation, match="has no map"):
            await replace_map(cells.front.commands, tmp_path / "other.map", MAP)
