"""The wheel, installed without a checkout."""

from __future__ import annotations

import json
import shlex
import subprocess
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from gateway.config.assets import assets
from gateway.config.build import commit_at
from tests.servers.process import free_port
from tests.world.authors import Environment, wheel_in
from tests.world.tree import PROJECT, ROOT
from tests.world.waiting import block_until

PORTS = ("PIXGATE_PORT", "PIXGATE_OPS_PORT", "PIXGATE_BANK_PORT", "PIXGATE_BANK_CONTROL_PORT")


def test_a_wheel_names_the_commit_it_was_built_from(environment: Environment):
    shown = json.loads(environment.runs("pixgate", "version", "--json"))

    assert shown["commit"] == commit_at(ROOT)


def test_a_wheel_carries_every_file_for_operators(environment: Environment):
    folder = environment.folder / "assets"

    environment.runs("pixgate", "assets", folder)

    assert {each: (folder / each).read_bytes() for each in assets(ROOT)} == {
        each: source.read_bytes() for each, source in assets(ROOT).items()
    }


def test_a_released_wheel_leads_to_where_it_was_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its README is read apart from the tree: no link or picture is a path."""
    home, tag = "https://example.com/pix/gate", f"v{PROJECT['project']['version']}"
    monkeypatch.setenv("PIXGATE_HOME", f"{home}/")

    with zipfile.ZipFile(wheel_in(tmp_path)) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(wheel.read(name).decode())

    assert f"Homepage, {home}" in metadata.get_all("Project-URL", [])
    assert f"Changelog, {home}/blob/{tag}/CHANGELOG.md" in metadata.get_all("Project-URL", [])
    text = metadata.get_payload()
    assert f"![Overview]({home}/raw/{tag}/docs/screens/overview-1440-light.png)" in text
    assert f"[docs/errors.md]({home}/blob/{tag}/docs/errors.md)" in text
    assert "](docs" not in text


def test_an_empty_folder_becomes_a_sandbox_that_answers_ten_calls(
    environment: Environment, tmp_path: Path
):
    """The first-day commands in order, on free ports."""
    environ = environment.environ | {name: str(free_port()) for name in PORTS}
    pixgate = environment.bin / "pixgate"
    for words in (("config", "init"), ("db", "upgrade")):
        subprocess.run([pixgate, *words], cwd=tmp_path, env=environ, check=True)
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [pixgate, "serve"], cwd=tmp_path, env=environ, stdout=output, stderr=output
        )

    try:
        block_until(lambda: process.poll() is not None or len(printed(log)) == len(CALLS))
        statuses = [status(line) for line in printed(log)]
    finally:
        process.kill()
        process.wait()

    assert statuses == CALLS, log.read_text()[-2000:]


CALLS = ["200"] * 9 + ["501"]
"""A payout cannot be cancelled (contract 4.1)."""


def printed(log: Path) -> list[str]:
    """Return the calls printed so far; a line half written is none yet."""
    lines = log.read_text().splitlines(keepends=True)
    return [line for line in lines if line.startswith("curl ") and line.endswith("\n")]


def status(line: str) -> str:
    done = subprocess.run(
        [*shlex.split(line), "-o", "/dev/null", "-w", "%{http_code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
