"""The Postman collection of the documentation site: every call of partners, made by newman."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
from pathlib import Path

import pytest

from gateway.reference.site import FOLDER
from tests.servers.clients import postman_runner
from tests.servers.demand import absent
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

COLLECTION = FOLDER / "reference" / "pixgate.postman_collection.json.gz"
CALLS = 13
"""The ten of a partner's account, and the three that are open to everybody."""


async def test_newman_makes_every_call_of_the_postman_collection(world: World, tmp_path: Path):
    """Each is answered with its documented status; the payout is executed once."""
    if not COLLECTION.exists():
        absent("site", "no documentation site: run `make docs-site`")
    collection = tmp_path / "collection.json"
    collection.write_bytes(gzip.decompress(COLLECTION.read_bytes()))
    pair, account = world.pair("full"), world.demo["accounts"]["main"]["id"]
    keys = await world.ask("GET", f"/baas/v1/account/{account}/pix/keys")
    variables = {
        "base_url": f"http://127.0.0.1:{world.port}",
        "client_id": pair["client_id"],
        "client_secret": pair["client_secret"],
        "account_id": account,
        "key_id": keys.document["data"][0]["id"],
        "charge_reference": world.demo["charges"]["paid"],
        "payout_reference": "from-postman",
        "today": world.today(),
    }

    report = tmp_path / "report.json"
    done = await asyncio.to_thread(
        subprocess.run,
        [
            *(postman_runner(), "run", collection, "--reporters", "cli,json", "--color", "off"),
            *("--reporter-json-export", report),
            *(part for each in variables.items() for part in ("--env-var", "=".join(each))),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(report.read_text())["run"]["stats"]
    assert (told["assertions"]["total"], told["assertions"]["failed"]) == (CALLS, 0)
    assert len(await world.executions("from-postman")) == 1
