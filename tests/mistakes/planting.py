"""
Copies of the tree, a mistake in one of their files, and what the named tests say to it.

The tree one works in is only read. A copy is planted with one mistake at a time and put
back before the next; copies share nothing, so several can be at work.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mistakes.mistake import Mistake

LONGEST_S = 240.0
"""A test that hangs says nothing about the mistake; the slowest named ones take a tenth of it."""

_FAILED = 1
"""pytest's code for tests that ran and failed; others stand for a run that did not come to that."""

_STOPPED = -1
_FOUND = re.compile(r"^(?:FAILED|ERROR) (\S+\.py::\w+(?:\[.*?\])?)(?: - (.*))?$", re.MULTILINE)
_NO_PROOF = re.compile(r"^(?:\w+\.)*(?:Import|ModuleNotFound|Name|Syntax|Indentation)Error\b")
"""Any test fails in a file that cannot be loaded: that shows nothing about the promise."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How pytest ended, what it printed, and how many seconds it took."""

    code: int
    printed: str
    took_s: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What became of a mistake.

    Attributes:
        caught: A named test failed because of it.
        by: The test that failed, or why the mistake counts as not caught.
    """

    mistake: Mistake
    caught: bool
    by: str
    took_s: float
    printed: str = ""


def copy_tree(root: Path, to: Path) -> Path:
    """Copy what is, or may come, under version control; times are kept for the bytecode's sake."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, cwd=root)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    return to


def run_tests(tree: Path, tests: Sequence[str], workers: int = 1, *, keep: bool = False) -> Ran:
    """
    Run tests of a copy with the copy's code, up to the first that fails.

    Args:
        tree: The copy.
        tests: Files and functions.
        workers: How many processes share them.
        keep: Write bytecode; never of a file with a mistake in it, which may
            have the size and the second of the right one.
    """
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=short"]
        + (["-n", str(workers)] if workers > 1 else ["-p", "no:randomly"])
        + list(tests),
        cwd=tree,
        env=_surroundings(tree) | ({} if keep else {"PYTHONDONTWRITEBYTECODE": "1"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            printed, _ = running.communicate(timeout=LONGEST_S if workers == 1 else None)
        except BaseException as problem:
            os.killpg(running.pid, signal.SIGKILL)
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            return Ran(_STOPPED, "", time.monotonic() - began)
    return Ran(running.returncode, printed, time.monotonic() - began)


def _surroundings(tree: Path) -> dict[str, str]:
    """Let every process that a test starts find the copy before the installed tree."""
    without = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return without | {"PYTHONPATH": str(tree)}


@contextmanager
def planted(tree: Path, mistake: Mistake) -> Iterator[None]:
    """Put a mistake into a copy, and put the right text back as it was, its time included."""
    path = tree / mistake.file
    right, kept = path.read_bytes(), path.stat()
    path.write_text(_loadable(mistake, right.decode()))
    try:
        yield
    finally:
        path.write_bytes(right)
        os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))


def _loadable(mistake: Mistake, right: str) -> str:
    """Return the planted text; a mistake that no interpreter reads is none that one makes."""
    text = mistake.planted_in(right)
    if mistake.file.endswith(".py"):
        compile(text, mistake.file, "exec")
    return text


def judge(mistake: Mistake, ran: Ran) -> Verdict:
    """Say whether the tests failed, and because of the mistake."""
    failed = _FOUND.search(ran.printed)
    caught, by = False, f"pytest ended with {ran.code}"
    if ran.code == 0:
        by = "every named test passes"
    elif ran.code == _STOPPED:
        by = f"no answer within {LONGEST_S:.0f} s"
    elif ran.code == _FAILED and failed:
        broken = _NO_PROOF.match(failed[2] or "")
        caught, by = not broken, f"not loaded: {failed[2]}" if broken else failed[1]
    return Verdict(mistake, caught, by, ran.took_s, "" if caught else ran.printed)
