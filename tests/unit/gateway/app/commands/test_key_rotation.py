"""``pixgate keys status``, ``stage`` and ``promote``."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.app.commands import key_rotation
from gateway.app.store import open_store
from gateway.core.key_rotation import KeyIds, LiveProcess
from gateway.security.keys import key_id
from tests.world.commands import SHORT
from tests.world.shell import Shell

KEY = base64.b64encode(b"k" * 32).decode()
OLD = key_id("sealing", KEY)
PEPPER = "a pepper of the old time, which is long enough"


@pytest.fixture
def shell(shell: Shell) -> Shell:
    """A command line with configured keys, on a store that a first command has stamped."""
    shell.environ |= {"PIXGATE_SEALING_KEY": KEY, "PIXGATE_PEPPER": PEPPER}
    shell.says("company", "create", "--name", "First")
    return shell


def configured(shell: Shell, key: str, other: str) -> None:
    """Change the sealing key of the commands that follow, with another one beside it."""
    text = Path(SHORT["PIXGATE_CONFIG"]).read_text()
    current = "  key: ${PIXGATE_SEALING_KEY:-}"
    (shell.folder / "config.yaml").write_text(
        text.replace(current, f"{current}\n  retired_keys: {{other: '${{OTHER_SEALING_KEY}}'}}")
    )
    shell.environ["PIXGATE_CONFIG"] = str(shell.folder / "config.yaml")
    shell.environ |= {"PIXGATE_SEALING_KEY": key, "OTHER_SEALING_KEY": other}


def alive(shell: Shell, name: str, *sealing: str) -> None:
    """Register a process as running, without a comparison of keys."""
    keys: KeyIds = {"sealing": sealing, "pepper": [key_id("pepper", PEPPER)], "passwords": [""]}

    async def work() -> None:
        store = open_store(f"sqlite:///{shell.folder}/pixgate.db")
        await store.processes.renew(LiveProcess(id=name, name=name, keys=keys), datetime.now(UTC))
        await store.close()

    asyncio.run(work())


def ended(shell: Shell, name: str) -> None:
    """Remove a process."""
    with closing(sqlite3.connect(shell.folder / "pixgate.db")) as connection, connection:
        connection.execute("DELETE FROM processes WHERE name = ?", [name])


def test_processes_with_the_same_keys_have_status_0(shell: Shell):
    alive(shell, "one", OLD)

    told = shell.reads("keys", "status")

    assert told["agreed"]
    assert told["processes"][0] == {
        "process": "one",
        "purpose": "sealing",
        "writes_with": OLD,
        "also_has": [],
    }
    assert {each["process"] for each in told["processes"]} == {"one", "this command"}
    assert [*told["next"]] == ["sealing", "pepper"]
    assert "keys stage pepper --file FILE makes the next key" in shell.says("keys", "status")
    assert KEY not in shell.says("keys", "status")
    assert PEPPER not in shell.says("keys", "status")


def test_a_process_that_lacks_a_key_has_status_3(shell: Shell):
    alive(shell, "one", OLD, "0000000b")

    done = shell.run("keys", "status")

    assert done.exit_code == key_rotation.DIFFERS
    assert "Phase 1 is under way: 0000000b is missing in this command" in done.stdout


def test_a_staged_key_is_promoted_when_every_process_has_it(shell: Shell):
    file = shell.folder / "next"
    made = shell.reads("keys", "stage", "sealing", "--file", str(file))
    new = file.read_text().strip()
    assert file.stat().st_mode & 0o777 == 0o600
    assert made["id"] == key_id("sealing", new)
    assert "exists" in shell.fails("keys", "stage", "sealing", "--file", str(file))

    configured(shell, KEY, new)
    alive(shell, "one", OLD, made["id"])
    alive(shell, "two", OLD)
    assert "missing in two: add it there" in shell.fails("keys", "promote", "sealing", made["id"])
    assert "finish the change" in shell.fails("keys", "stage", "sealing", "--file", "another")

    ended(shell, "two")
    alive(shell, "two", OLD, made["id"])
    promoted = shell.reads("keys", "promote", "sealing", made["id"])
    assert promoted["not_yet"] == ["one", "two", "this command"]
    assert promoted["next"].startswith("Make the key sealing.key and move the present one to")


def test_a_command_with_other_keys_than_the_processes_changes_nothing(shell: Shell):
    """Such as a forgotten cron job or terminal, and a command ahead of the processes."""
    alive(shell, "one", OLD)
    other = base64.b64encode(b"o" * 32).decode()

    configured(shell, other, KEY)
    ahead = shell.fails("company", "create", "--name", "Ahead")
    assert f"{key_id('sealing', other)} is not configured in one: add it there" in ahead
    configured(shell, other, other)
    assert f"{OLD}, with which one writes, is not" in shell.fails("company", "list")
    configured(shell, KEY, other)
    assert [each["name"] for each in shell.reads("company", "list")] == ["First"]
