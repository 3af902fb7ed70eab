"""The command as it is installed, from outside: two processes, one store."""

import json
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway.cli.os_user import os_user
from gateway.core.permissions import EVERY_PERMISSION
from tests.world.shell import CONFIG, Shell, bank_beside


@dataclass(frozen=True, slots=True)
class Installed:
    """``python -m gateway`` in a folder of its own."""

    environ: dict[str, str]
    folder: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gateway", *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=self.environ,
            cwd=CONFIG.parent,
        )

    def reads(self, *arguments: str):
        done = self.run(*arguments, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)


@pytest.fixture
def shell(tmp_path: Path):
    """The command in this process, with a sandbox bank beside it."""
    shell = Shell(tmp_path)
    with bank_beside(shell):
        yield shell


@pytest.fixture
def pixgate(shell: Shell):
    return Installed({**os.environ, **shell.environ}, shell.folder)


def test_an_operator_onboards_and_offboards_a_partner(shell: Shell):
    """Each command is a separate process."""
    pixgate = shell
    company = pixgate.reads("company", "create", "--name", "Padaria")
    account = pixgate.reads(
        "account", "create", "--company", company["id"], "--name", "Padaria",
        "--tax-number", "52998224725", "--active", "--verified",
    )  # fmt: skip
    issued = pixgate.reads(
        "credential", "issue", "--name", "ERP", "--account", account["id"],
        "--permission", "balance:read", "--by", "maria",
    )  # fmt: skip
    pixgate.reads("credential", "rotate", issued["client_id"])
    pixgate.reads("credential", "revoke", issued["client_id"])

    (listed,) = pixgate.reads("credential", "list", "--company", company["id"])
    assert (listed["state"], listed["account_id"]) == ("revoked", account["id"])


def test_every_act_of_a_command_names_the_system_s_user(shell: Shell):
    """`--by` may be the address of a user, whose act it then is; who ran it is beside it."""
    owner = ("--email", "ana@example.com", "--name", "Ana", "--role", "admin")
    shell.run("user", "create", *owner, typed="uma frase bem comprida\n")
    shell.reads("company", "create", "--name", "Padaria", "--by", "ana@example.com")
    shell.reads("company", "create", "--name", "Mercado")

    with sqlite3.connect(shell.folder / "pixgate.db") as database:
        rows = database.execute("SELECT actor, details FROM audit ORDER BY number").fetchall()

    assert [actor for actor, _ in rows] == [
        f"cli:{os_user()}",
        "user:ana@example.com",
        f"cli:{os_user()}",
    ]
    assert {json.loads(details)["os_user"] for _, details in rows} == {os_user()}
    assert shell.reads("audit", "verify")["whole"]


def test_every_change_is_in_the_audit_log_without_secrets(shell: Shell):
    """The chain is valid, and no table contains a secret in clear."""
    pixgate = shell
    company = pixgate.reads("company", "create", "--name", "Padaria", "--by", "maria")
    issued = pixgate.reads("credential", "issue", "--name", "ERP", "--company", company["id"])

    proof = pixgate.reads("audit", "verify")
    assert (proof["whole"], proof["events"]) == (True, 2)
    with sqlite3.connect(pixgate.folder / "pixgate.db") as database:
        acts = database.execute("SELECT actor, action FROM audit ORDER BY number").fetchall()
        whole = "\n".join(database.iterdump())
    database.close()
    assert acts[0] == ("maria", "company.created")
    assert acts[1][0].startswith("cli")
    assert issued["client_secret"] not in whole


def test_the_demo_is_the_same_for_two_processes_at_once(pixgate):
    """The first one creates it, and the other finds it."""
    first, second = (
        subprocess.Popen(
            [sys.executable, "-m", "gateway", "demo", "--json"],
            stdout=subprocess.PIPE,
            env=pixgate.environ,
            cwd=CONFIG.parent,
        )
        for _ in range(2)
    )
    said = [process.communicate()[0] for process in (first, second)]

    assert (first.returncode, second.returncode) == (0, 0)
    assert said[0] == said[1]
    demo = json.loads(said[0])
    assert {str(each) for each in EVERY_PERMISSION} < set(demo["credentials"])


def test_an_error_is_one_line_and_status_one(pixgate):
    done = pixgate.run("credential", "revoke", "cli_nobody")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: there is no credential cli_nobody\n"


def test_a_usage_error_is_status_two(shell: Shell):
    assert shell.run("company", "create").exit_code == 2
