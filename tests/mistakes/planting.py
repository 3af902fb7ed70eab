"""
Copies of the tree, a mistake in one of their files, and what the named tests say to it.

The tree one works in is only read. A copy is planted with one mistake at a time and put
back before the next; copies share nothing, so several can be at work.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.mistakes.fork_server import STOPPED
from tests.mistakes.mistake import Mistake

LONGEST_S = 240.0
"""A test that hangs says nothing about the mistake; the slowest named ones take a tenth of it."""

_PYTEST = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=short")
# What was imported before pytest began is not rewritten, and need not be: it is no test.
_PRELOADED = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
_FAILED = 1
"""pytest's code for tests that ran and failed; others stand for a run that did not come to that."""

_FOUND = re.compile(r"^(?:FAILED|ERROR) (\S+\.py::\w+(?:\[.*?\])?)(?: - (.*))?$", re.MULTILINE)
_NO_PROOF = re.compile(
    r"^(?:\w+\.)*(?:Import|ModuleNotFound|Name|UnboundLocal|Attribute|Syntax|Indentation)Error\b"
)
"""Any test fails in code that cannot run at all: that shows nothing about the promise."""

_hours = count(1)


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
        error: What it failed with.
    """

    mistake: Mistake
    caught: bool
    by: str
    took_s: float
    error: str = ""
    printed: str = ""


class Copy:
    """A copy of the tree, and the process that runs its tests; ``close`` ends it."""

    def __init__(self, root: Path, to: Path) -> None:
        """Copy ``root`` to the folder ``to``."""
        self.tree = copy_tree(root, to)
        self._output = to.with_suffix(".txt")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.mistakes.fork_server"],
            cwd=to,
            env=_surroundings(to),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, tests: Sequence[str], longest_s: float = LONGEST_S) -> Ran:
        """Run tests of the copy with the copy's code, up to the first that fails."""
        began = time.monotonic()
        asked = [[*_PYTEST, *_PRELOADED, *tests], str(self._output), longest_s]
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        printed = self._output.read_text(errors="replace")
        return Ran(code, printed, time.monotonic() - began)

    def judge(self, mistake: Mistake) -> Verdict:
        """Run the tests named for a mistake with the mistake planted."""
        with planted(self.tree, mistake):
            return judged(mistake, self.run(mistake.tests))

    def close(self) -> None:
        """Let the process end."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def copy_tree(root: Path, to: Path) -> Path:
    """Copy what is, or may come, under version control; times are kept for the bytecode's sake."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, cwd=root)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    return to


def _surroundings(tree: Path) -> dict[str, str]:
    """
    Let every process that a test starts find the copy before the installed tree.

    With columns enough for the summary to say by which error a test failed.
    """
    without = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return without | {"PYTHONPATH": str(tree), "COLUMNS": "1000"}


@contextmanager
def planted(tree: Path, mistake: Mistake) -> Iterator[None]:
    """
    Put a mistake into a copy, and put the right text back as it was, its time included.

    Bytecode is known by a file's size and second: each planted file has an hour of its own.
    """
    path = tree / mistake.file
    right, kept = path.read_bytes(), path.stat()
    path.write_text(_loadable(mistake, right.decode()))
    os.utime(path, (kept.st_atime, int(kept.st_mtime) + 3600 * next(_hours)))
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


def judged(mistake: Mistake, ran: Ran) -> Verdict:
    """Say whether the tests failed, and because of the mistake."""
    failed = _FOUND.search(ran.printed)
    if ran.code == _FAILED and failed:
        error = failed[2] or ""
        if not _NO_PROOF.match(error):
            return Verdict(mistake, caught=True, by=failed[1], took_s=ran.took_s, error=error)
        why = f"the code cannot run: {error}"
    elif ran.code == 0:
        why = "every named test passes"
    elif ran.code == STOPPED:
        why = f"no answer within {LONGEST_S:.0f} s"
    else:
        why = f"pytest ended with {ran.code}"
    return Verdict(mistake, caught=False, by=why, took_s=ran.took_s, printed=ran.printed)
