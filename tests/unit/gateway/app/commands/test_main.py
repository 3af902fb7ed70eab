"""The command as a whole."""

import json
import platform
import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from gateway.app.commands.main import pixgate
from gateway.config.build import built_from
from tests.world.shell import Shell

COMMANDS = {
    "account": {"create", "list", "update"},
    "assets": set(),
    "company": {"contact", "create", "list"},
    "bank": set(),
    "banks": {"lookup"},
    "config": {"check", "init"},
    "credential": {
        *("add-key", "issue", "limits", "list", "networks", "propose-limit"),
        *("remove-key", "revoke", "rotate"),
    },
    "db": {"current", "downgrade", "upgrade"},
    "delivery": {"again", "list", "show"},
    "demo": {"totp"},
    "endpoint": {
        *("add", "change", "list", "pause", "ping", "remove", "resume", "rotate", "show"),
    },
    "errors": set(),
    "keys": {"list", "promote", "retire", "rotate", "stage", "status"},
    "mailbox": set(),
    "providers": set(),
    "cells": {"map", "move"},
    "callbacks": {"list", "register", "remove"},
    "routes": set(),
    "sandbox": {
        *("call", "charge", "executions", "fault", "hold", "pay"),
        *("refund", "release", "return", "top-up"),
    },
    "serve": set(),
    "version": set(),
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


def test_every_command_exists():
    context = click.Context(pixgate)
    found = {
        name: set(getattr(pixgate.get_command(context, name), "commands", {}))
        for name in pixgate.list_commands(context)
    }

    assert found.items() >= COMMANDS.items()


@pytest.fixture(scope="module")
def helps(tmp_path_factory):
    """What each command prints about itself."""
    shell = Shell(tmp_path_factory.mktemp("help"))
    return {command: shell.says(*command, "--help") for command in EVERY}


def test_every_command_has_a_help_text(helps):
    unexplained = [
        command
        for command, said in helps.items()
        if not said.startswith(f"Usage: pixgate {' '.join(command)}")
    ]

    assert unexplained == []


def test_every_command_takes_a_configuration_and_prints_json(helps):
    lacking = [
        (command, option)
        for command, said in helps.items()
        if command[0] != "serve"
        for option in ("--cells" if command[0] == "cells" else "--config", "--json")
        if option not in said
    ]

    assert lacking == []


def test_every_change_can_be_signed(helps):
    changing = {"create", "update", "issue", "rotate", "revoke"}

    unsigned = [
        command for command, said in helps.items() if command[-1] in changing and "--by" not in said
    ]

    assert unsigned == []


def test_the_version_is_the_distribution_s(shell):
    assert shell.says("--version") == f"{version('pixgate')}\n"


def test_version_and_commit_are_of_the_installed_package(shell):
    shown = json.loads(shell.says("version", "--json"))

    assert shown == {
        "version": version("pixgate"),
        "commit": built_from(),
        "python": platform.python_version(),
    }


@pytest.mark.process
def test_help_imports_no_database_or_http_modules(tmp_path):
    """A command imports what it needs when it runs."""
    code = """
import sys
from gateway.app.commands.main import pixgate
pixgate(["--help"], standalone_mode=False)
print(*sys.modules)
"""

    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert not set(HEAVY) & set(done.stdout.split())
