"""``pixgate audit``: its exit status gives a script the state of the log."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click import ClickException

from gateway.audit.cli import kept_head
from tests.world.shell import Shell

CUT = (
    "DROP TRIGGER audit_no_delete",
    "DELETE FROM audit WHERE number = (SELECT max(number) FROM audit)",
)
HASH = "ab" * 32


@pytest.fixture
def kept(shell: Shell, tmp_path: Path) -> Path:
    for name in ("One", "Two", "Three"):
        shell.says("company", "create", "--name", name)
    file = tmp_path / "head.json"
    file.write_text(shell.says("audit", "head"))
    return file


def change(shell: Shell, *statements: str) -> None:
    """Change the store behind the gateway's back."""
    with closing(sqlite3.connect(shell.folder / "pixgate.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_whole_log_is_status_0(shell: Shell, kept: Path):
    assert shell.reads("audit", "verify") == {
        "whole": True,
        "events": 3,
        "problem": "",
        "accepted": [],
    }
    assert shell.reads("audit", "verify", "--head", str(kept))["whole"]
    head = json.loads(kept.read_text())
    assert head["number"] == 3
    assert len(head["hash"]) == 64
    assert len(head["key_id"]) == 8


def test_a_truncated_log_is_status_3(shell: Shell, kept: Path):
    change(shell, *CUT)

    verified, ended = shell.run("audit", "verify", "--json"), shell.run("audit", "head")

    assert (verified.exit_code, ended.exit_code) == (3, 3)
    told = json.loads(verified.stdout)
    assert told == {
        "whole": False,
        "events": 0,
        "problem": "the audit log is broken at event 3",
        "accepted": [],
    }
    assert "broken at event 3" in json.loads(ended.stdout)["problem"]
    assert kept.exists()


def test_a_store_restored_whole_is_status_3_with_a_saved_head(
    shell: Shell, kept: Path, tmp_path: Path
):
    store = shell.folder / "pixgate.db"
    old = tmp_path / "backup.db"
    with closing(sqlite3.connect(store)) as there, closing(sqlite3.connect(old)) as copy:
        there.backup(copy)
    shell.says("company", "create", "--name", "Four")
    kept.write_text(shell.says("audit", "head"))
    with closing(sqlite3.connect(old)) as copy, closing(sqlite3.connect(store)) as there:
        copy.backup(there)

    assert shell.reads("audit", "verify")["whole"]
    compared = shell.run("audit", "verify", "--head", str(kept))
    assert compared.exit_code == 3
    assert "ends at event 3, and had reached event 4" in compared.stdout


def test_a_log_under_an_unknown_key_is_status_3(shell: Shell, kept: Path):
    keys = json.loads((shell.folder / "keys.json").read_text())
    keys["sealing_key"] = keys["pepper"]
    (shell.folder / "keys.json").write_text(json.dumps(keys))

    done = shell.run("audit", "verify", "--json")

    assert done.exit_code == 3
    assert "which is not configured" in json.loads(done.stdout)["problem"]
    assert kept.exists()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"number": 7, "hash": HASH}),
        json.dumps({"number": 7, "hash": HASH}, indent=2) + "\n",
        f'{{"event":"sys_startup"}}\n{{"event":"audit_head","audit_number":7,"audit_hash":"{HASH}"}}\n',
    ],
    ids=["one line", "as printed", "log"],
)
def test_a_saved_head_is_read_in_each_form(tmp_path: Path, text: str):
    (tmp_path / "head").write_text(text)

    found = kept_head(tmp_path / "head")

    assert (found.number, found.hash) == (7, bytes.fromhex(HASH))


def test_a_hash_prefix_from_the_metrics_is_accepted_as_head(tmp_path: Path):
    (tmp_path / "head").write_text(json.dumps({"number": 7, "hash": HASH[:12]}))

    assert kept_head(tmp_path / "head").hash == bytes.fromhex(HASH[:12])


def test_an_invalid_head_is_refused(tmp_path: Path):
    cases = [
        "",
        "no",
        "[]",
        "7",
        "{}",
        '{"number": 7}',
        '{"number": "7", "hash": "' + HASH + '"}',
        '{"number": 7, "hash": "abab"}',
        '{"number": -1, "hash": "' + HASH + '"}',
        '{"number": 7, "hash": "xx"}',
    ]

    for text in cases:
        (tmp_path / "head").write_text(text)

        with pytest.raises(ClickException, match="holds no head"):
            kept_head(tmp_path / "head")


def test_an_absent_head_file_is_status_1(shell: Shell, tmp_path: Path):
    missing = str(tmp_path / "none")

    assert "cannot be read" in shell.fails("audit", "verify", "--head", missing)


ADMINS = ("ana@example.com", "bia@example.com")


@pytest.fixture
def lost(shell: Shell) -> Shell:
    """A log of two admins, whose key is lost."""
    for email in ADMINS:
        made = ("user", "create", "--email", email, "--name", email, "--role", "admin")
        shell.says(*made, typed="a long enough password\n" * 2)
    (shell.folder / "keys.json").unlink()
    return shell


def test_a_break_accepted_by_two_people_is_named_in_every_later_proof(lost: Shell, tmp_path: Path):
    """Until it is accepted, no audited act is possible."""
    file, (ana, bia) = str(tmp_path / "proposal"), ADMINS
    accept = ("audit", "accept-break", "1")
    propose = (*accept, "--propose", file, "--reason", "the disk burnt")
    assert "event 1 is sealed under the key" in lost.run("audit", "verify").stdout
    assert "which is not configured" in lost.fails("company", "create", "--name", "Two")

    lost.says(*propose, "--by", ana)
    assert "File exists" in lost.fails(*propose, "--by", ana)
    approve = (*accept, "--approve", file)
    assert "--by is required" in lost.run(*approve).stderr
    assert "a second person approves" in lost.fails(*approve, "--by", ana)
    assert lost.run("audit", "verify").exit_code == 3

    lost.says(*approve, "--by", bia)

    lost.says("company", "create", "--name", "Two")
    proven = lost.reads("audit", "verify")
    accepted = proven["accepted"][0]
    assert (proven["whole"], proven["events"], len(proven["accepted"])) == (True, 4, 1)
    assert (accepted["first"], accepted["last"], accepted["number"]) == (1, 2, 3)
    assert (
        f"whole, but for the break accepted at event 3 by user:{ana} and user:{bia} on "
        f"{accepted['at']}, events 1 to 2 ({accepted['problem']}): the disk burnt"
    ) in lost.says("audit", "verify")
    assert "the audit log is whole" in lost.fails(*approve, "--by", bia)
