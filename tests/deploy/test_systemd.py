"""The units for systemd call what there is."""

import re
import shlex

import click
import pytest

from gateway.cli.main import pixgate
from tests.deploy.rule_cases import ROOT

UNIT = (ROOT / "deploy" / "pixgate.service").read_text()
WORKER = (ROOT / "deploy" / "pixgate-worker.service").read_text()
COMMANDS = re.findall(r"^Exec\w+=/opt/pixgate/bin/pixgate (.*)$", UNIT + WORKER, re.MULTILINE)


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_is_one_of_ours_with_options_it_has(line: str):
    words = shlex.split(line)
    command: click.Command = pixgate
    context = click.Context(pixgate)
    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found

    command.make_context("it", words, resilient_parsing=False)


@pytest.mark.parametrize("unit", [UNIT, WORKER], ids=["server processes", "worker"])
def test_a_reload_checks_the_configuration_before_it_is_taken(unit: str):
    reloads = re.findall(r"^ExecReload=(.*)$", unit, re.MULTILINE)

    assert "config check" in reloads[0]
    assert reloads[1:] == ["/bin/kill -HUP $MAINPID"]
