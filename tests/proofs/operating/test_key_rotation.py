"""Keys replaced while two processes serve: refused one process at a time, whole in two phases."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.security.keys import key_id
from provider_adapters.testing.demo.ensure import Pair
from tests.proofs.torture.processes import Command, gateway
from tests.servers.postgres import PostgresServer
from tests.world.gateway.world import basic
from tests.world.shell import Shell

OLD, NEW = (
    {
        "sealing": base64.b64encode(letter * 32).decode(),
        "pepper": base64.b64encode(letter.upper() * 32).decode(),
    }
    for letter in (b"o", b"n")
)
NAMES = ("KEY", "PEPPER", "OTHER_KEY", "OTHER_PEPPER")
COMPANY = ("company", "create", "--name", "C")


@dataclass(slots=True)
class Node:
    """
    A machine: one process, and the commands that are typed there, with the same keys.

    Attributes:
        url: Where its process serves.
    """

    shell: Shell
    command: Command
    url: str
    session: aiohttp.ClientSession

    def has(self, current: dict[str, str], other: dict[str, str] = OLD) -> None:
        """Configure what it writes with from its next start on, and what it has beside that."""
        keys = (current["sealing"], current["pepper"], other["sealing"], other["pepper"])
        self.shell.environ |= dict(zip(NAMES, keys, strict=True))
        self.command.environ |= self.shell.environ

    @property
    def pid(self) -> int:
        assert self.command.process is not None
        return self.command.process.pid

    async def restart(self) -> bool:
        """Stop the process and start it again; say whether it serves."""
        if self.command.runs:
            assert self.command.process is not None
            self.command.process.terminate()
            await self.command.ended()
        self.command.start()
        return await self.command.wait(self.session)

    async def reads(self, *arguments: str) -> Any:
        return await asyncio.to_thread(self.shell.reads, *arguments)

    async def fails(self, *arguments: str) -> str:
        return await asyncio.to_thread(self.shell.fails, *arguments)

    async def accepts(self, credential: Pair) -> bool:
        """Say whether its process knows a credential, which may do nothing."""
        header = {"Authorization": basic(credential)}
        url = f"{self.url}/baas/v1/account/{uuid.uuid4()}/balance"
        while True:
            async with self.session.get(url, headers=header) as said:
                if said.status == 503:  # the store is slow on a busy machine
                    continue
                assert said.status in {401, 403}, await said.text()
                return said.status != 401


@pytest.fixture
async def nodes(
    tmp_path: Path, postgres_server: PostgresServer, migrated_database: str
) -> AsyncIterator[list[Node]]:
    name = f"rotation_{uuid.uuid4().hex}"
    url = await postgres_server.create(name, template=migrated_database)
    config = tmp_path / "config.yaml"
    document = {
        "environment": "sandbox",
        "var": str(tmp_path),
        "server": {"port": "${PIXGATE_PORT:-0}", "drain_accept_s": 0},
        "admin": {"port": "${PIXGATE_OPS_PORT:-0}"},
        "database": {"url": url},
        "limits": {"loop_lag_s": 3_600},
        "sandbox_bank": {"start": False},
        "auth": {"basic": {"pepper": "${PEPPER}", "retired_peppers": {"o": "${OTHER_PEPPER}"}}},
        "sealing": {"key": "${KEY}", "retired_keys": {"o": "${OTHER_KEY}"}},
    }
    config.write_text(json.dumps(document))
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        made = []
        for each in ("a", "b"):
            command, address = gateway(tmp_path, config, each)
            stack.callback(command.kill)
            shell = Shell(tmp_path, {"PIXGATE_CONFIG": str(config)})
            made.append(Node(shell, command, address, session))
            made[-1].has(OLD)
            assert await made[-1].restart(), command.said()
        yield made
    await postgres_server.drop(name)


async def test_a_key_is_rotated_in_two_phases_without_an_outage(nodes: list[Node]):
    first, second = nodes
    new_key, new_pepper = (key_id(each, NEW[each]) for each in ("sealing", "pepper"))
    company = (await first.reads(*COMPANY))["id"]
    issue = ("credential", "issue", "--company", company, "--name", "C")

    first.has(NEW, OLD)
    assert not await first.restart()
    for named in (f"the sealing key {new_key}", f"the pepper {new_pepper}"):
        assert f"{named} is not configured in server process" in first.command.said()
    assert "is not configured in server process" in await first.fails(*COMPANY)

    for node in nodes:
        node.has(OLD, NEW)
        assert await node.restart(), node.command.said()
        if node is first:
            lacking = await node.fails("keys", "promote", "sealing", new_key)
            assert f"{second.pid} on" in lacking
    assert (await first.reads("keys", "status"))["agreed"]
    assert (await first.reads("keys", "promote", "sealing", new_key))["not_yet"]

    first.has(NEW, OLD)
    assert await first.restart(), first.command.said()
    issued = [await first.reads(*issue)]
    await second.reads(*COMPANY)
    issued.append(await second.reads(*issue))
    assert [await each.accepts(it) for each in nodes for it in issued] == [True] * 4
    second.has(NEW, OLD)
    assert await second.restart(), second.command.said()

    assert (await second.reads("keys", "status"))["agreed"]
    assert (await second.reads("audit", "verify"))["whole"]
