"""Our TypeScript client, built in a folder of its own, and a partner's program on it."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.proofs.torture.gateway_client import GatewayClient
from tests.servers.clients import Programs
from tests.world.gateway.world import World

HERE = Path(__file__).parent
SOURCE = HERE.parents[2] / "clients/typescript"
FOR_EVER_S = 1e9
Call = tuple[str, Sequence[Any]]
"""The name of a method, and what it is given."""


@dataclass(frozen=True, slots=True)
class Package:
    """
    The built client.

    Attributes:
        folder: The package, with ``dist``.
        module: What a program imports.
    """

    tools: Programs
    folder: Path
    module: Path

    async def run(self, *command: str | Path, given: object = None, **environ: str) -> str:
        """Run a program in the package's folder; return what it wrote."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            cwd=self.folder,
            env={**self.tools.environment, **environ},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        out, err = await process.communicate(json.dumps(given).encode())
        assert process.returncode == 0, (out + err).decode()
        return out.decode()

    def bundled(self, bundle: Path) -> Package:
        """Return the same client as a bundle has it."""
        return replace(self, module=bundle)


async def built(tools: Programs, folder: Path) -> Package:
    """Compile the client as it is published."""
    shutil.copytree(
        SOURCE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("dist", "node_modules")
    )
    made = Package(tools, folder, folder / "dist/index.js")
    await made.run(tools.tsc, "--project", folder)
    return made


@dataclass(frozen=True, slots=True)
class Partner:
    """Who calls which gateway, with which credential, through the client."""

    package: Package
    base_url: str
    account_id: str
    pair: tuple[str, str]

    async def calls(self, *calls: Call, at_once: int = 8) -> list[dict[str, Any]]:
        """Make calls, some at the same time; return their outcomes in order."""
        client_id, client_secret = self.pair
        said = await self.package.run(
            *("node", HERE / "uses_client.mjs"),
            given={
                "module": str(self.package.module),
                "client": {
                    "baseUrl": self.base_url,
                    "accountId": self.account_id,
                    "clientId": client_id,
                    "clientSecret": client_secret,
                },
                "calls": [{"name": name, "given": list(given)} for name, given in calls],
                "at_once": at_once,
            },
        )
        outcomes: list[dict[str, Any]] = json.loads(said)
        return outcomes

    async def call(self, name: str, *given: Any) -> dict[str, Any]:
        """Make one call; return its outcome."""
        [outcome] = await self.calls((name, given))
        return outcome


def partner_of(package: Package, world: World, port: int = 0) -> Partner:
    """Call a world's gateway, directly or at the port of a proxy."""
    pair = world.pair("full")
    return Partner(
        package,
        f"http://127.0.0.1:{port or world.port}",
        world.demo["accounts"]["main"]["id"],
        (pair["client_id"], pair["client_secret"]),
    )


def partner_at(package: Package, site: GatewayClient) -> Partner:
    """Call a gateway in a process of its own."""
    coded = site.account.authorization.removeprefix("Basic ")
    client_id, _, client_secret = base64.b64decode(coded).decode().partition(":")
    return Partner(package, site.base, site.account.id, (client_id, client_secret))


def order(reference: str, day: str, value: str = "10.50", **changed: Any) -> dict[str, Any]:
    """Return an order that every check lets through."""
    return {
        "method": "pix",
        "reference": reference,
        "value": value,
        "date": day,
        "destination": {
            "tax_number": "529.982.247-25",
            "key_type": "email",
            "key": "maria@example.com",
        },
        **changed,
    }
