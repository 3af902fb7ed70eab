"""The command as a whole."""

import subprocess
import sys
from importlib.metadata import version

import pytest

from gateway.cli.main import pixgate

COMMANDS = {
    "account": {"create", "list", "update"},
    "company": {"create", "list"},
    "bank": set(),
    "banks": {"lookup"},
    "config": {"check"},
    "credential": {"issue", "list", "revoke", "rotate"},
    "db": {"current", "downgrade", "upgrade"},
    "demo": {"totp"},
    "errors": set(),
    "keys": {"list", "retire", "rotate"},
    "outbox": set(),
    "providers": set(),
    "callbacks": {"list", "register", "remove"},
    "routes": set(),
    "sandbox": {
        *("block", "charge", "executions", "fault", "hold", "pay"),
        *("release", "return", "top-up"),
    },
    "sandbox-bank": set(),
    "serve": set(),
    "worker": set(),
    "user": {
        "create",
        "disable",
        "enable",
        "end-sessions",
        "invite",
        "invite-again",
        "list",
        "reset-mfa",
        "roles",
    },
}
EVERY = [
    (group, *([command] if command else []))
    for group, commands in COMMANDS.items()
    for command in sorted(commands) or [""]
]
HEAVY = ("sqlalchemy", "aiohttp", "alembic", "cryptography", "prometheus_client", "uvloop")


def test_every_command_has_its_place():
    found = {
        name: set(getattr(command, "commands", {})) for name, command in pixgate.commands.items()
    }

    assert found.items() >= COMMANDS.items()


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_every_command_explains_itself(shell, command):
    said = shell.says(*command, "--help")

    assert said.startswith(f"Usage: pixgate {' '.join(command)}")


@pytest.mark.parametrize(
    "command",
    [each for each in EVERY if each[0] not in {"serve", "sandbox-bank"}],
    ids=" ".join,
)
def test_every_command_takes_a_configuration_and_prints_json(shell, command):
    said = shell.says(*command, "--help")

    assert "--config" in said
    assert "--json" in said


@pytest.mark.parametrize(
    "command",
    [each for each in EVERY if each[-1] in {"create", "update", "issue", "rotate", "revoke"}],
    ids=" ".join,
)
def test_every_change_can_be_signed(shell, command):
    assert "--by" in shell.says(*command, "--help")


def test_the_version_is_the_distribution_s(shell):
    assert shell.says("--version") == f"{version('pixgate')}\n"


@pytest.mark.process
def test_help_costs_no_database_and_no_http(tmp_path):
    """A command imports what it needs when it runs."""
    code = "import sys, gateway.cli.main; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )

    assert not set(HEAVY) & set(done.stdout.split())
