"""Payouts through the whole gateway, measured: every answer is looked up in the store."""

import os
import subprocess
import sys
from pathlib import Path

from bench import paying

ROOT = Path(__file__).resolve().parents[3]
SHORT = [
    "--rounds",
    "1",
    "--seconds",
    "0.4",
    "--connections",
    "4",
    "--only",
    paying.FILE,
    "--before",
    "",
]


def test_a_short_run_has_its_row_and_keeps_a_file(tmp_path: Path):
    results = tmp_path / "results"

    done = subprocess.run(
        [sys.executable, ROOT / "bench/payouts.py", *SHORT, "--results", results],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=280,  # it takes seconds, unless the machine is busy
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {paying.FILE} | " in done.stdout
    assert len(list(results.iterdir())) == 1
