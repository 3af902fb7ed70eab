"""The storage benchmark from end to end: rows, goals, a history file. Never its figures."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import storage
from bench.writing import GROUPED, ONE_BY_ONE, WRITERS, named

ROOT = Path(__file__).resolve().parents[3]
SHORT = ["--rounds", "1", "--seconds", "0.1", "--only", "SQLite"]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """One short run: what it printed, and the file it kept."""
    results, made = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("bench")
    done = subprocess.run(
        [sys.executable, ROOT / "bench/storage.py", *SHORT, "--results", results],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(made)},
        timeout=280,  # it takes seconds, unless the machine is busy
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [kept] = results.iterdir()
    return done.stdout, json.loads(kept.read_text())


@pytest.mark.parametrize("way", [GROUPED, ONE_BY_ONE])
@pytest.mark.parametrize("writers", WRITERS)
def test_every_way_has_its_row(short, way: str, writers: int):
    name = named("SQLite", way, writers)

    assert f"| {name} | " in short[0]
    assert short[1]["rounds"][name][0]["answers"] > 0


def test_the_floor_comes_first(short):
    assert len(short[1]["values"][storage.FLOOR]) == 3


@pytest.mark.parametrize("name", ["SQLite", "R12 SQLite", "R13 SQLite"])
def test_every_goal_has_its_row(short, name: str):
    assert f"| {name} | " in short[0]
