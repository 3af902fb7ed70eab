"""
The value of a variable: from the environment, a file, or a command such as a key store's client.

``NAME`` counts first, then the content of the file that ``NAME_FILE`` names, then the output of the
command in ``NAME_COMMAND``. Set but empty counts as not set. Errors name the variable and never
hold a value.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_WAIT_S: Final = 10.0
"""For a command: a key store across a network answers in less, and a start must not hang."""


def value_of(name: str, environ: Mapping[str, str]) -> str | None:
    """
    Return the value without white space around it; None if it has no source.

    Raises:
        ValueError: the file cannot be read, or the command does not print a value.
    """
    if value := environ.get(name):
        return value
    if file := environ.get(f"{name}_FILE"):
        return _content(name, Path(file))
    if command := environ.get(f"{name}_COMMAND"):
        return _printed(name, command, environ)
    return None


def _content(name: str, file: Path) -> str:
    try:
        content = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        cause = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
        message = f"the file that {name}_FILE names cannot be read: {cause}"
        raise ValueError(message) from problem
    if not content:
        message = f"the file that {name}_FILE names is empty"
        raise ValueError(message)
    return content


def _printed(name: str, command: str, environ: Mapping[str, str]) -> str:
    where = f"the command of {name}_COMMAND"
    try:
        output = _run(_words(command), environ)
    except TypeError as problem:
        message = f"{name}_COMMAND is a program and its arguments as a JSON list of texts"
        raise ValueError(message) from problem
    except OSError as problem:
        message = f"{where} cannot be run: {problem.strerror}"
        raise ValueError(message) from problem
    except subprocess.TimeoutExpired:  # which holds the output, as the next one does
        message = f"{where} did not end within {_WAIT_S:.0f} seconds"
        raise ValueError(message) from None
    except subprocess.CalledProcessError as problem:
        message = f"{where} ended with status {problem.returncode}"
        raise ValueError(message) from None
    try:
        printed = output.decode("utf-8").strip()
    except UnicodeDecodeError:
        message = f"{where} printed what is not UTF-8"
        raise ValueError(message) from None
    if not printed:
        message = f"{where} printed nothing"
        raise ValueError(message)
    return printed


def _words(command: str) -> Sequence[str]:
    """Read program and arguments; TypeError for anything else than a list of texts."""
    problem = "not a list of texts"
    try:
        words = json.loads(command)
    except ValueError as malformed:
        raise TypeError(problem) from malformed
    if not (isinstance(words, list) and words and all(isinstance(each, str) for each in words)):
        raise TypeError(problem)
    if not words[0] or any("\0" in each for each in words):
        raise TypeError(problem)
    return words


def _run(words: Sequence[str], environ: Mapping[str, str]) -> bytes:
    """
    Run a program without a shell, and return its output; its errors are dropped, not logged.

    It has our environment without ``PIXGATE_*``: a client of a key store needs
    its own token, and none of our secrets.
    """
    theirs = {name: value for name, value in environ.items() if not name.startswith("PIXGATE_")}
    with subprocess.Popen(  # noqa: S603 - no shell; the words are those of whoever starts us
        words,
        env=theirs,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    ) as process:
        try:
            output, _ = process.communicate(timeout=_WAIT_S)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)  # what it started holds the pipe, too
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words[0])
    return output
