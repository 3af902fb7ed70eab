"""A certified identity provider of others: oidc-provider in Node; ``make clients`` installs it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.servers.clients import HOME
from tests.servers.demand import absent

PROGRAM: Final = Path(__file__).with_suffix(".mjs")
LIBRARY: Final = HOME / "node_modules" / "oidc-provider"


@asynccontextmanager
async def providing(folder: Path, wanted: Mapping[str, object]) -> AsyncIterator[None]:
    """Run it until the end of the block; it forgets everybody, and has another key next time."""
    node = shutil.which("node")
    if node is None or not LIBRARY.is_dir():
        absent("clients", "no node, or no oidc-provider: run `make clients`")
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(HOME / "node_modules")
    program = folder / PROGRAM.name
    program.write_bytes(PROGRAM.read_bytes())
    process = await asyncio.create_subprocess_exec(
        str(node),
        str(program),
        json.dumps(wanted),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"listening\n"
        yield
    finally:
        process.kill()
        await process.wait()
