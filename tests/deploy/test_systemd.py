"""The units for systemd call what there is, and a process that hangs is killed."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from gateway.app.commands.main import pixgate
from tests.deploy.rule_cases import ROOT

UNITS = {
    name: (ROOT / "deploy" / name).read_text()
    for name in ("pixgate@.service", "pixgate-worker.service")
}
ANALYZE = shutil.which("systemd-analyze")
COMMANDS = re.findall(
    r"^Exec\w+=/opt/pixgate/bin/pixgate (.*)$", "".join(UNITS.values()), re.MULTILINE
)


@pytest.mark.parametrize("line", COMMANDS)
def test_each_unit_runs_a_valid_pixgate_command(line: str):
    words = shlex.split(line)
    command: click.Command = pixgate
    context = click.Context(pixgate)
    while isinstance(command, click.Group):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found

    command.make_context("it", words, resilient_parsing=False)


@pytest.mark.parametrize("name", UNITS)
def test_a_reload_validates_the_configuration_first(name: str):
    reloads = re.findall(r"^ExecReload=(.*)$", UNITS[name], re.MULTILINE)

    assert "config check" in reloads[0]
    assert reloads[1:] == ["/bin/kill -HUP $MAINPID"]


@pytest.mark.parametrize("name", UNITS)
def test_a_hanging_process_is_killed_and_restarted_without_a_core(name: str):
    """A core would contain keys; other processes share the port, or the worker's leases."""
    wanted = {"Type=notify", "WatchdogSec=10", "WatchdogSignal=SIGKILL", "Restart=always"}

    assert wanted <= {*UNITS[name].splitlines()}


def test_instances_share_the_public_port_and_have_an_operations_port_each():
    assert "Environment=PIXGATE_OPS_PORT=%i PIXGATE_REUSE_PORT=true" in UNITS["pixgate@.service"]
    assert "User=pixgate" in UNITS["pixgate@.service"]
    assert "Environment=PIXGATE_OPS_PORT=9190" in UNITS["pixgate-worker.service"]


@pytest.mark.skipif(ANALYZE is None, reason="wants systemd-analyze")
def test_systemd_verifies_the_units(tmp_path: Path):
    for name, text in UNITS.items():
        (tmp_path / name).write_text(text.replace("/opt/pixgate/bin/pixgate", "/bin/true"))

    done = subprocess.run(
        [ANALYZE, "verify", *(tmp_path / name for name in UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(ANALYZE is None, reason="wants systemd-analyze")
@pytest.mark.parametrize("name", UNITS)
def test_a_unit_has_few_rights(name: str, tmp_path: Path):
    """At most 3.0 of 10 by systemd's own score, where an unrestricted unit has 8."""
    (tmp_path / name).write_text(UNITS[name].replace("/opt/pixgate/bin/pixgate", "/bin/true"))

    done = subprocess.run(
        [ANALYZE, "security", "--offline=true", "--no-pager", "--threshold=30", tmp_path / name],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_limits_file_rights_memory_and_log(name: str):
    """By default, journald drops lines beyond 10,000 in 30 s."""
    lines = UNITS[name].splitlines()

    assert {"UMask=0077", "StateDirectoryMode=0700", "LogRateLimitIntervalSec=0"} <= {*lines}
    assert any(line.startswith("MemoryMax=") for line in lines)
