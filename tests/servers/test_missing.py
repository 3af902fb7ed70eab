"""What a run prints of tests whose server is missing."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LACKING = """
import pytest
from tests.servers.demand import absent

@pytest.mark.parametrize("number", [1, 2])
def test_behind_haproxy(number):
    absent("haproxy", "haproxy is not installed")
"""


def test_missing_servers_are_listed_once_with_tests_and_command(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("TEST_REQUIRE", raising=False)
    (tmp_path / "test_lacking.py").write_text(LACKING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.report", "-p", "no:cacheprovider"]

    done = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", tmp_path, tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    *_, reason, tests, _ = done.stdout.splitlines()
    assert reason == ("2 skipped: haproxy: haproxy is not installed; apt-get install haproxy")
    assert tests == "  test_lacking.py (2)"
