"""Values of variables: from the environment, a file or a command."""

import json
import logging
import sys
from pathlib import Path

import pytest

from gateway.config import variables
from gateway.config.reading import ConfigError, settings_from
from gateway.config.variables import value_of
from tests.world.waiting import block_until

SECRET = "CANARY"
WRITTEN = "auth: {basic: {pepper: '${A}'}}"


def python(program: str, *arguments: str) -> str:
    return json.dumps([sys.executable, "-c", program, *arguments])


def test_a_variable_is_read_before_its_file_and_its_command(tmp_path: Path):
    file = tmp_path / "pepper"
    file.write_text(" of the file\n")
    command = python("print(' of the command ')")
    three = {"A": "itself", "A_FILE": str(file), "A_COMMAND": command}

    found = []
    for name in ("", "A", "A_FILE", "A_COMMAND"):
        three |= {name: ""}
        found.append(value_of("A", three))

    assert found == ["itself", "of the file", "of the command", None]


def test_a_command_runs_without_a_shell_and_without_our_variables():
    shown = "import json, os, sys; print(json.dumps([sys.argv[1], {**os.environ}]))"
    environ = {"A_COMMAND": python(shown, "$(id); `id`"), "PIXGATE_PEPPER": SECRET, "TOKEN": "t"}

    argument, seen = json.loads(value_of("A", environ) or "")

    assert argument == "$(id); `id`"
    assert (seen["TOKEN"], "PIXGATE_PEPPER" in seen) == ("t", False)


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (python(f"print('{SECRET}'); raise SystemExit(3)"), "ended with status 3"),
        (python(f"import sys; sys.exit('{SECRET}')"), "ended with status 1"),
        (python("print()"), "printed nothing"),
        (python("import sys; sys.stdout.buffer.write(b'CANARY\\xff')"), "not UTF-8"),
        (json.dumps(["/nowhere/client", SECRET]), "cannot be run: No such file"),
        (f"vault read {SECRET}", "as a JSON list of texts"),
        (json.dumps(f"vault read {SECRET}"), "as a JSON list of texts"),
        (json.dumps([]), "as a JSON list of texts"),
        (json.dumps(["vault", 1]), "as a JSON list of texts"),
        (json.dumps(["vault", "a\0b"]), "as a JSON list of texts"),
    ],
)
def test_a_failing_command_is_reported_without_its_output(
    command: str, problem: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.DEBUG), pytest.raises(ConfigError) as refused:
        settings_from(WRITTEN, {"A_COMMAND": command})

    (told,) = refused.value.problems
    said = capfd.readouterr()
    assert told.startswith("auth.basic.pepper: ")
    assert problem in told
    assert SECRET not in told + said.out + said.err + caplog.text


def test_a_command_that_does_not_end_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A grandchild holds the output open too; the test would otherwise time out."""
    monkeypatch.setattr(variables, "_WAIT_S", 1.0)
    made = tmp_path / "made"
    sleeping = f"import pathlib, time; pathlib.Path({str(made)!r}).touch(); time.sleep(3600)"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {sleeping!r}])"

    with pytest.raises(ValueError, match="A_COMMAND did not end within 1 seconds"):
        value_of("A", {"A_COMMAND": python(starts)})

    block_until(lambda: not runs(str(made)))


def runs(word: str) -> bool:
    files = Path("/proc").glob("[0-9]*/cmdline")
    return any(word.encode() in content(each) for each in files)


def content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # it has ended meanwhile
        return b""
