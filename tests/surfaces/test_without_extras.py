"""A gateway without the panel, on PostgreSQL, serves everything else without any extra."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SERVING = """
import asyncio, json, sys
from pathlib import Path
from gateway.config.extras import EXTRAS
sys.modules.update({module: None for modules in EXTRAS.values() for module in modules})
from aiohttp import ClientSession
from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.cli.configuration import settings_of

CALLS = {
    "public": (
        "/openapi.json", "/baas/v1/info", "/baas/v1/account/x/balance", "/iam/v1/auth/sessions",
        "/backoffice/v1/accounts", "/panel", "/panel/login",
    ),
    "operations": ("/livez", "/readyz", "/metrics"),
}

async def serve():
    told, gateway = {}, assemble(settings_of(Path(sys.argv[1])), {})
    async with running(gateway), ClientSession() as web:
        for listener, paths in CALLS.items():
            port = getattr(gateway, listener).port
            for path in paths:
                # A store that is late on a busy machine makes it unready for a moment.
                while told.get(path, 503) == 503:
                    async with web.get(f"http://127.0.0.1:{port}{path}") as answer:
                        told[path] = answer.status
    Path(sys.argv[2]).write_text(json.dumps(told))  # standard output is the log's

asyncio.run(serve())
"""


@pytest.mark.process
def test_only_the_panel_is_not_served(migrated_postgres_url: str, tmp_path: Path):
    config, told = tmp_path / "gateway.yaml", tmp_path / "told.json"
    settings = {
        "var": str(tmp_path),
        "server": {"port": 0, "panel": False, "openapi": True},
        "admin": {"port": 0},
        "database": {"url": migrated_postgres_url.replace("+asyncpg", "")},
        "sandbox_bank": {"start": False},
    }
    config.write_text(json.dumps(settings))  # JSON is YAML

    done = subprocess.run(
        [sys.executable, "-c", SERVING, str(config), str(told)], capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(told.read_text()) == {
        "/openapi.json": 200,
        "/baas/v1/info": 200,
        "/baas/v1/account/x/balance": 401,
        "/iam/v1/auth/sessions": 401,
        "/backoffice/v1/accounts": 401,
        "/panel": 404,
        "/panel/login": 404,
        "/livez": 200,
        "/readyz": 200,
        "/metrics": 200,
    }
