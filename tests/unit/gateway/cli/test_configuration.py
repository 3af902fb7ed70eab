"""The configuration as commands read it: what is wrong with it is one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.configuration import settings_of
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.commands import SHORT
from tests.world.shell import CONFIG

HEAVY = ("sqlalchemy", "cryptography", "alembic", "prometheus_client", "uvloop")


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "cannot be read"), ("nonsense: 1\nworker: {nice: 20}\n", "1 more")],
    ids=["absent", "wrong"],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str | None, said: str):
    file = tmp_path / "config.yaml"
    if text is not None:
        file.write_text(text)

    with pytest.raises(RuleViolation, match=said):
        settings_of(file)


def test_the_short_configuration_of_these_tests_says_the_same_as_the_whole():
    assert settings_of(Path(SHORT["PIXGATE_CONFIG"])) == settings_of(CONFIG)


@pytest.mark.process
def test_a_supervisor_loads_neither_database_nor_keys():
    """It stays as long as its processes do, and has nothing to do with either."""
    code = (
        "import sys, gateway.cli.main, gateway.cli.configuration, gateway.runtime.process,"
        " gateway.cli.serve.supervisor; print(*sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )

    assert not set(HEAVY) & set(done.stdout.split())
