"""``pixgate payouts archive``."""

import gzip
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from gateway.app.failpoints import OF_AN_ARCHIVE, VARIABLE
from gateway.payouts.model import PayoutState
from tests.unit.gateway.cli.standing import people, stand, stored
from tests.world.shell import CONFIG, Shell
from tests.world.stores.samples import ACCOUNT, payout

AT = datetime.now(UTC) - timedelta(days=400)
FILE = f"{ACCOUNT}/{AT:%Y-%m}-1.jsonl.gz"


@pytest.fixture
def old(shell: Shell, tmp_path: Path) -> Path:
    """A payout of more than a year ago, where a year is kept; the folder of archives."""
    settings = yaml.safe_load(CONFIG.read_text())
    settings["payouts"]["keep_months"] = 12
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(settings))
    shell.environ["PIXGATE_CONFIG"] = str(config)
    people(shell)
    stored(shell, lambda store: stand(store, payout(created_at=AT), PayoutState.PAID))
    return tmp_path / "archive"


def test_a_plan_changes_nothing(shell: Shell, old: Path):
    [planned] = shell.reads("payouts", "archive", "write", str(old), "--plan")

    assert planned == {
        "step": "write",
        "account_id": ACCOUNT,
        "month": f"{AT:%Y-%m}",
        "payouts": 1,
        "value": "10.50",
    }
    assert not old.exists()
    assert len(shell.reads("payouts", "archive", "write", str(old), "--plan")) == 1


def test_a_written_archive_is_verified_and_shown(shell: Shell, old: Path):
    done = shell.run("payouts", "archive", "write", str(old), "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(f"{FILE}: 1 payouts\n")
    [written] = json.loads(done.stdout)
    assert (written["file"], written["value"]) == (FILE, "10.50")
    assert shell.reads("payouts", "archive", "write", str(old)) == []

    assert shell.reads("payouts", "archive", "verify", str(old)) == []
    assert shell.reads("payouts", "archive", "verify", str(old), "--offline") == []
    [shown] = shell.reads("payouts", "archive", "show", str(old), "order-1")
    assert (shown["file"], shown["state"]) == (FILE, "paid")
    assert "no file" in shell.fails("payouts", "archive", "show", str(old), "order-2")


def test_a_file_that_is_gone_or_changed_is_a_fault(shell: Shell, old: Path):
    shell.says("payouts", "archive", "write", str(old))
    file = old / FILE
    file.write_bytes(gzip.compress(b"{}\n"))

    changed = shell.run("payouts", "archive", "verify", str(old))
    file.unlink()
    (old / FILE.replace(".jsonl.gz", ".json")).unlink()
    gone = shell.run("payouts", "archive", "verify", str(old))

    assert (changed.exit_code, gone.exit_code) == (1, 1)
    assert "has another digest than its manifest" in changed.stdout
    assert "not in the folder" in gone.stdout
    assert shell.reads("payouts", "archive", "verify", str(old), "--offline") == []


def test_without_the_setting_nothing_leaves(shell: Shell, old: Path):
    shell.environ["PIXGATE_CONFIG"] = str(CONFIG)

    assert "payouts.keep_months" in shell.fails("payouts", "archive", "write", str(old))


def test_files_are_for_their_owner_alone(shell: Shell, old: Path):
    shell.says("payouts", "archive", "write", str(old))

    modes = {path.stat().st_mode & 0o077 for path in (old, *old.rglob("*"))}
    assert modes == {0}


@pytest.mark.process
def test_a_run_that_is_killed_anywhere_goes_on_when_it_is_repeated(shell: Shell, old: Path):
    """A process of its own each time, ended as by ``kill -9``."""
    stored(shell, lambda store: stand(store, payout("order-2", created_at=AT), PayoutState.PAID))
    command = [sys.executable, "-m", "gateway", "payouts", "archive", "write", str(old)]
    environ = {**os.environ, **shell.environ}

    for point in OF_AN_ARCHIVE:
        killed = subprocess.run(
            command, check=False, capture_output=True, env={**environ, VARIABLE: point}
        )
        assert killed.returncode == -signal.SIGKILL, (point, killed.stderr)
    shell.says("payouts", "archive", "write", str(old))

    lines = gzip.decompress((old / FILE).read_bytes()).splitlines()
    assert sorted(json.loads(each)["reference"] for each in lines) == ["order-1", "order-2"]
    assert len(list(old.rglob("*.gz"))) == 1
    assert shell.reads("payouts", "archive", "verify", str(old)) == []
    assert shell.reads("payouts", "archive", "write", str(old), "--plan") == []
