"""
Runs pytest repeatedly in one copy of the tree, each time in a forked process.

What pytest and its plugins import takes seconds and is the same for every mistake. Nothing of the
product or its tests is imported here, so each run reads their current text.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import time
from importlib.metadata import entry_points

STOPPED = -1
"""Told in place of pytest's code for a run that took too long."""

_LOOK_S = 0.02
# Beside pytest's plugins, what tests import from others that takes longest.
_OTHERS = ("aiosqlite", "asyncpg", "playwright.async_api", "sqlalchemy.ext.asyncio")


def main() -> None:
    """Answer each line ``[arguments, file for the output, seconds]`` with a code."""
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    for name in _OTHERS:
        importlib.import_module(name)
    for line in sys.stdin:
        arguments, output, longest_s = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os._exit(_run(arguments, output))
        sys.stdout.write(f"{_ended(pid, longest_s)}\n")
        sys.stdout.flush()


def _run(arguments: list[str], output: str) -> int:
    """Run pytest in a process group of its own, which may be ended whole."""
    os.setsid()
    to = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for standard in (1, 2):
        os.dup2(to, standard)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    code = int(importlib.import_module("pytest").main(arguments))
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _ended(pid: int, longest_s: float) -> int:
    """Wait for a run, and end it when it takes too long."""
    until = time.monotonic() + longest_s
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_LOOK_S)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return STOPPED


if __name__ == "__main__":
    main()
