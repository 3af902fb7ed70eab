"""What a start loads, and what it leaves for later."""

import json
import subprocess
import sys

import pytest

from tests.world.store import migrated

SELDOM = {
    *("alembic", "babel", "reportlab", "schemathesis", "asyncpg"),
    *("provider_adapters.testing.bank.server", "provider_adapters.testing.bank.callbacks"),
}
SERVING = """
import asyncio, json, sys
from pathlib import Path
from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.app.commands.main import pixgate
from gateway.cli.configuration import settings_of
async def serve():
    async with running(assemble(settings_of(Path(sys.argv[1])), {})):
        Path(sys.argv[2]).write_text(json.dumps([*sys.modules]))  # standard output is the log's
asyncio.run(serve())
"""


@pytest.mark.process
def test_rarely_used_modules_are_imported_on_use(tmp_path):
    """Each costs 30 to 300 ms at startup, and up to several MB."""
    config, told = tmp_path / "gateway.yaml", tmp_path / "told.json"
    bank = {"adapter": "sandbox", "settings": {"base_url": "http://127.0.0.1:9"}}
    settings = {
        "environment": "sandbox",
        "var": str(tmp_path),
        "server": {"port": 0},
        "admin": {"port": 0},
        "providers": {"sandbox": bank},
        "sandbox_bank": {"start": False},
    }
    config.write_text(json.dumps(settings))  # JSON is YAML
    command = [sys.executable, "-c", SERVING, str(config), str(told)]
    migrated(tmp_path / "pixgate.db")
    subprocess.run(command, check=True, capture_output=True)

    loaded = set(json.loads(told.read_text()))
    assert "gateway.net.server.listener" in loaded
    assert not SELDOM & loaded
