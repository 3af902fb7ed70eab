"""The gateway as a process of its own: started by its command, sent signals, killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from gateway.core.account import Environment
from gateway.payouts.model import provider_key
from tests.servers.process import free_port
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import FROM_NOON, basic, now, send
from tests.world.waiting import until

ROOT = Path(__file__).resolve().parents[3]
LAST_CALL = "# 10. "
"""What stands above the last of the calls that are printed at the end of a start."""


@dataclass(slots=True, kw_only=True)
class GatewaySite:
    """
    Where a gateway lives: its folder, its ports, its configuration.

    Attributes:
        environ: Variables of its own, beside the ports.
        said: The file that takes whatever it prints, every run of it.
    """

    folder: Path
    ports: dict[str, int]
    config: Path
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['PIXGATE_PORT']}"

    @property
    def ops_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['PIXGATE_OPS_PORT']}"

    @property
    def control_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['PIXGATE_BANK_CONTROL_PORT']}/control"

    @property
    def said(self) -> Path:
        return self.folder / "said.log"

    @property
    def demo(self) -> Any:
        """The demo, which the process makes as it starts."""
        return json.loads((self.folder / "demo.json").read_text())

    def at(self, path: str) -> str:
        return f"/baas/v1/account/{self.demo['accounts']['main']['id']}{path}"

    def start(
        self, command: str = "serve", *options: str, onto: int | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a command; it prints into ``said``, or onto a descriptor."""
        ports = {name: str(port) for name, port in self.ports.items()}
        site = {**ports, "PIXGATE_VAR": str(self.folder), **self.environ}
        arguments = [command, "--config", str(self.config), *options]
        with self.said.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "gateway", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output if onto is None else onto,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env={**os.environ, **FROM_NOON, **site},
            )


def place(folder: Path, **changed: str) -> GatewaySite:
    """
    Choose ports, and take the sandbox's own configuration with these lines changed.

    No call is shed because this machine has much else to do.
    """
    names = ("PIXGATE_PORT", "PIXGATE_OPS_PORT", "PIXGATE_BANK_PORT", "PIXGATE_BANK_CONTROL_PORT")
    text = (ROOT / "config.yaml").read_text()
    for setting, value in {"loop_lag_s": "3600", **changed}.items():
        line = next(each for each in text.splitlines() if each.strip().startswith(f"{setting}:"))
        indent = line[: len(line) - len(line.lstrip())]
        text = text.replace(line, f"{indent}{setting}: {value}")
    config = folder / "config.yaml"
    config.write_text(text)
    return GatewaySite(folder=folder, ports={name: free_port() for name in names}, config=config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running process, and a partner who calls it."""

    where: GatewaySite
    process: subprocess.Popen[bytes]
    session: aiohttp.ClientSession

    async def ask(self, method: str, path: str, **details: Any) -> Answer:
        header = {"Authorization": basic(self.where.demo["credentials"]["full"])}
        headers = {**header, **details.pop("headers", {})}
        return await send(
            self.session, self.where.base_url, method, path, headers=headers, **details
        )

    async def ready(self) -> int:
        """Read its readiness: 200, 503, or 0 without an answer."""
        try:
            async with self.session.get(f"{self.where.ops_url}/readyz") as said:
                return said.status
        except aiohttp.ClientConnectionError:
            return 0

    async def executions(self, reference: str) -> list[int]:
        """Return the centavos of every payout that the bank really made for a reference."""
        account = self.where.demo["accounts"]["main"]["id"]
        key = provider_key(Environment.SANDBOX, account, reference)
        async with self.session.get(f"{self.where.control_url}/executions?key={key}") as said:
            return [row["centavos"] for row in (await said.json())["data"]]

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait)


@asynccontextmanager
async def served(where: GatewaySite) -> AsyncIterator[Served]:
    """Run the command until the block ends, or until it was ended inside."""
    process = where.start()
    connector = aiohttp.TCPConnector(limit=0)
    try:
        async with aiohttp.ClientSession(connector=connector) as session:
            running = Served(where=where, process=process, session=session)
            await _until_made(running)
            yield running
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()


async def _until_made(running: Served) -> None:
    """Wait until the demo is printed; from then on everything is there."""
    printed = running.where.said.read_text().count(LAST_CALL)

    def is_made() -> bool:
        said = running.where.said.read_text()
        assert running.process.poll() is None, said
        return said.count(LAST_CALL) > printed

    await until(is_made)


def today() -> str:
    return now().date().isoformat()
