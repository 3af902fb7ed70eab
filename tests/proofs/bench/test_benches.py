"""Each benchmark as a command, at its smallest: right answers and a table. No figures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import payouts, run
from tests.world.extent import WHOLE
from tests.world.tree import ROOT

FIGURES = ["cpu", "slow", "peers"] if WHOLE else ["slow"]
ROUND = ["--rounds", "1", "--seconds", "0.1", "--connections", "4"]


def measured(folder: Path, module: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark to its end; it must succeed, and leave nothing behind."""
    done = subprocess.run(
        [sys.executable, "-m", module, *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each.name for each in folder.iterdir() if "ports" not in each.name] == []
    return done


def test_run_measures_every_system(tmp_path: Path):
    """A wrong answer would end it with 1."""
    done = measured(tmp_path, "bench.run", *ROUND, "--only", *FIGURES)

    assert f"| {run.SLOW} | " in done.stdout
    assert f"| {run.SLOW_PROXY} | " in done.stdout
    assert run.IDLE in done.stdout


def test_payouts_are_stored_and_followed_up(tmp_path: Path):
    """A payout that was answered and is not stored would end it with 1."""
    figures = [payouts.FILE, payouts.FOLLOW_UP] if WHOLE else [payouts.FILE]

    done = measured(tmp_path, "bench.payouts", *ROUND, "--only", *figures)

    assert f"| {payouts.payout(payouts.FILE)} | " in done.stdout
    assert (f"| {payouts.LOOKS} | " in done.stdout) == WHOLE


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_pages_are_measured_on_a_filled_store(tmp_path: Path):
    """A page that sends too many queries or bytes would end it with 1."""
    size = ["--payouts", "200", "--rows", "20", "--rounds", "1"]

    done = measured(tmp_path, "bench.pages", *size, "--database", "sqlite", "--only", "payouts")

    assert "| payouts | " in done.stderr
