"""Each main benchmark as a command, at its smallest: right answers, tables, a file. No figures."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import paying, storage, subjects
from tests.world.extent import WHOLE
from tests.world.tree import ROOT

FIGURES = ["cpu", "slow", "rate", "telling", "start", "scrape"] if WHOLE else ["slow"]
ROUND = ["--rounds", "1", "--seconds", "0.1"]


def measured(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark to its end; it must succeed."""
    done = subprocess.run(
        [sys.executable, *command],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def kept(results: Path) -> dict[str, object]:
    """Read the one file that a benchmark kept."""
    [file] = results.iterdir()
    content: dict[str, object] = json.loads(file.read_text())
    return content


def test_run_measures_every_system_and_keeps_a_file(tmp_path: Path):
    """A wrong answer would end it with 1; nothing stays behind."""
    made, results = tmp_path / "made", tmp_path / "results"
    made.mkdir()
    short = [*ROUND, "--connections", "4", "--only", *FIGURES]

    done = measured(made, "bench/run.py", *short, "--results", str(results))

    history = kept(results)
    assert history["command"] == f"bench/run.py {' '.join(short)}"
    assert {subjects.SLOW_PROXY, subjects.SLOW} <= set(history["rounds"])
    assert history["rounds"][subjects.SLOW][0]["answers"] > 0
    assert [name for name in history["rounds"] if f"| {name} |" not in done.stdout] == []
    assert list(made.iterdir()) == []


def test_payouts_are_stored_and_kept_in_a_file(tmp_path: Path):
    """A payout that was answered and is not stored would end it with 1."""
    results = tmp_path / "results"
    short = [*ROUND, "--connections", "4", "--only", paying.FILE, "--before", ""]

    done = measured(tmp_path, "bench/payouts.py", *short, "--results", str(results))

    assert f"| {paying.FILE} | " in done.stdout
    assert kept(results)["rounds"][paying.FILE][0]["answers"] > 0


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_pages_are_measured_on_a_filled_store(tmp_path: Path):
    """A page that sends too many queries or bytes would end it with 1."""
    size = ["--payouts", "200", "--rows", "20", "--rounds", "1"]
    name = "payouts"

    done = measured(tmp_path, "-m", "bench.pages", *size, "--database", "sqlite", "--only", name)

    assert f"| {name} | " in done.stderr


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_storage_writes_on_its_own_and_in_groups(tmp_path: Path):
    results = tmp_path / "results"

    measured(tmp_path, "bench/storage.py", *ROUND, "--only", "SQLite", "--results", str(results))

    assert storage.FLOOR in kept(results)["values"]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_the_gateway_is_measured_beside_nginx(tmp_path: Path):
    if not shutil.which("nginx", path="/usr/sbin:/usr/bin"):
        pytest.skip("nginx is not installed")
    results = tmp_path / "results"
    short = [*ROUND, "--connections", "4", "--only", "nginx, proxy"]

    done = measured(tmp_path, "bench/peers/run.py", *short, "--results", str(results))

    assert "| nginx, proxy, 4,000/s |" in done.stdout
    assert len(list(results.iterdir())) == 1
