"""Loading without looking for garbage, and what is left of that."""

import gc
import json
import subprocess
import sys

import pytest

from gateway.cli.startup import uncollected
from tests.world.store import migrated

SELDOM = {
    *("alembic", "babel", "reportlab", "jinja2", "schemathesis", "asyncpg"),
    *("provider_adapters.testing.bank.server", "provider_adapters.testing.bank.callbacks"),
}
SERVING = """
import asyncio, json, sys
from pathlib import Path
from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.cli.main import pixgate
from gateway.cli.configuration import settings_of
async def serve():
    async with running(assemble(settings_of(Path(sys.argv[1])), {})):
        Path(sys.argv[2]).write_text(json.dumps([*sys.modules]))  # standard output is the log's
asyncio.run(serve())
"""


@pytest.fixture(autouse=True)
def collecting():
    """Whatever a test does, the others are collected."""
    yield
    gc.enable()


def test_nothing_is_collected_while_modules_are_loaded():
    with uncollected():
        inside = gc.isenabled()

    assert (inside, gc.isenabled()) == (False, True)


def test_what_cannot_be_loaded_changes_nothing_for_the_rest():
    with pytest.raises(ImportError), uncollected():
        raise ImportError

    assert gc.isenabled()


def test_who_does_not_collect_at_all_is_left_alone():
    gc.disable()

    with uncollected():
        pass

    assert not gc.isenabled()


@pytest.mark.process
def test_what_is_seldom_used_is_loaded_when_it_is_used(tmp_path):
    """Each of them costs a start 30 to 300 ms, and a process up to several MB."""
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
