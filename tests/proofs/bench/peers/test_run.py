"""Beside a peer: right answers, both tables. Never the figures."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
SHORT = ["--rounds", "1", "--seconds", "0.2", "--connections", "4", "--only", "nginx, proxy"]


@pytest.mark.skipif(
    not shutil.which("nginx", path="/usr/sbin:/usr/bin"), reason="nginx is not installed"
)
def test_the_gateway_is_measured_beside_nginx(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "bench/peers/run.py", *SHORT, "--results", tmp_path / "results"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        timeout=280,  # it takes seconds, unless the machine is busy
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "| nginx, proxy, 4,000/s |" in done.stdout
    assert "| p99 | at 4,000/s over nginx, proxy, ms | not measured" not in done.stdout
    assert len(list((tmp_path / "results").iterdir())) == 1
