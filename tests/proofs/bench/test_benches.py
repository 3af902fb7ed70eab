"""Each benchmark as a command, at its smallest: right answers and a table. No figures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import callers, model, payouts, run, scale
from tests.world.extent import WHOLE
from tests.world.tree import ROOT

FIGURES = ["cpu", "slow", "peers", "loops"] if WHOLE else ["slow", "open"]
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


def test_bench_run_measures_every_system(tmp_path: Path):
    """A wrong answer would end it with status 1."""
    done = measured(tmp_path, "bench.run", *ROUND, "--only", *FIGURES)

    assert f"| {run.SLOW} | " in done.stdout
    assert f"| {run.SLOW_PROXY} | " in done.stdout
    assert run.IDLE in done.stdout
    assert "| R16 | " in done.stdout


def test_payouts_are_stored_and_followed_up(tmp_path: Path):
    """An answered payout that is not stored would end it with status 1."""
    figures = [payouts.FILE, payouts.FOLLOW_UP] if WHOLE else [payouts.FILE]

    done = measured(tmp_path, "bench.payouts", *ROUND, "--only", *figures)

    assert f"| {payouts.payout(payouts.FILE)} | " in done.stdout
    assert (f"| {payouts.LOOKS} | " in done.stdout) == WHOLE


def test_bench_callers_compares_every_rule(tmp_path: Path):
    done = measured(tmp_path, "bench.callers")

    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == [*callers.RULES]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_bench_scale_writes_its_page(tmp_path: Path):
    """Only correct answers; the prediction is not checked with so few."""
    page = tmp_path / "ports.md"
    page.write_text(f"before\n{scale.BEGIN}\nold\n{scale.END}\nbehind\n")
    command = [sys.executable, "-m", "bench.scale", *ROUND, "--page", str(page)]

    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)

    said = page.read_text()
    assert done.returncode == 0 or "prediction is off" in done.stderr
    assert (said[:6], said[-7:], "old" in said) == ("before", "behind\n", False)
    assert "| payout, PostgreSQL | " in said


def test_the_cost_of_a_day_is_the_sum_of_its_payouts():
    """Checked by hand: the whole day adds up, and the tightest limit is the first to break."""
    costs = model.Costs(payout_us=1_000, balance_us=200, database_us=500, wal=10_000, kept=2_000)
    day = model.day(costs, 86_400_000)

    assert sum(model.minutes(86_400_000)) == pytest.approx(86_400_000)
    assert (day.mean, day.kept_gb, day.wal_tb) == pytest.approx((1_000, 172.8, 0.864))
    assert day.server_cores == pytest.approx(day.peak * 2_200 / 1e6)
    assert day.database_cores == pytest.approx(day.peak * 800 / 1e6)
    assert day.event_rows_m == pytest.approx(4 * 86.4 * model.DAYS)
    assert model.breaks(day, 86_400_000)[0][0].startswith("rows of `payout_events`")


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_pages_are_measured_on_a_filled_store(tmp_path: Path):
    """Too many queries or bytes would end it with status 1."""
    size = ["--payouts", "200", "--rows", "20", "--rounds", "1"]

    done = measured(tmp_path, "bench.pages", *size, "--database", "sqlite", "--only", "payouts")

    assert "| payouts | " in done.stderr
