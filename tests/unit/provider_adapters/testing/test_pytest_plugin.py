"""The suite as tests of pytest: one for each case, run as an author runs them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.tree import ROOT

TEST = """
def test_adapter(adapter_case):
    adapter_case.run()
"""
MARKED = """
import pytest

STAGE = "provider_adapters.testing.stages:SandboxStage"

@pytest.mark.pixgate_adapter("sandbox", stage=STAGE)
def test_adapter(adapter_case):
    adapter_case.run()
"""
pytestmark = pytest.mark.process
PLUGIN = "-pprovider_adapters.pytest_plugin"


def ran(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_adapter.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-pno:randomly", "-pno:cacheprovider", *options]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT)},
    )


def test_each_case_is_a_test_of_the_marked_adapter(tmp_path: Path):
    """One that does not apply is skipped with its reason."""
    chosen = "[bank.absent] or [callbacks.several"
    done = ran(tmp_path, MARKED, "-v", "-rs", PLUGIN, "-k", chosen)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_adapter[bank.absent] PASSED" in done.stdout
    assert "not applicable: the stage's bank sends a callback for each thing" in done.stdout


FORGETFUL = """
from provider_adapters.testing.stages import SandboxStage

class Forgetful(SandboxStage):
    async def executions(self, provider_key):
        return []
"""


def test_a_failure_shows_the_compared_values(tmp_path: Path):
    """Pytest rewrites the asserts of the suite as it does those of tests."""
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    chosen = ("--pixgate-adapter=sandbox", "--pixgate-stage=forgetful:Forgetful", "-kbank.settled]")
    done = ran(tmp_path, TEST, PLUGIN, *chosen, "-opythonpath=.")

    assert done.returncode == 1, done.stdout + done.stderr
    assert "assert [] == [Money(" in done.stdout


def test_without_an_adapter_name_the_run_fails(tmp_path: Path):
    done = ran(tmp_path, TEST, PLUGIN)

    assert "which adapter?" in done.stdout + done.stderr
    assert done.returncode != 0
