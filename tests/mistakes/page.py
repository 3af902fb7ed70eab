"""``README.md`` beside this module: planted mistakes, their tests, and the last runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.mistakes.planting import Verdict

PAGE = Path("tests/mistakes/README.md")
NAMED = re.compile(r"^\| `([a-z0-9-]+)` \|", re.MULTILINE)
_RUN = re.compile(r"^\| \d{4}-\d\d-\d\d .*\|$", re.MULTILINE)

_HEAD = """\
# Planted mistakes

A test suite is worth what it catches. Each row below is a mistake that a tired engineer might
make, the promise it breaks, and the test that fails because of it: mutation testing, with mutants
chosen by hand. "Contract" and "decisions" are explained in [the list of
documents](../../docs/README.md).

`make mistakes` copies the tree into a temporary folder, runs the named tests once without any
mistake, then plants one mistake at a time and runs the tests named for it; it exits with 1 if one
survives. `make mistakes ONLY=name` runs one row, `make mistakes RECORD=1` writes this page. The
rows are in [rows](rows).

A test that is merged, moved or removed must leave every row caught: this is how we know that
nothing that could fail has stopped being able to.

The first list found four holes, each closed with a test: a bank that settles less than was asked
(only more had been tried), a body that is too large in pieces each of which is not, a refund above
what is left of a payment of which a part was given back, and a migration's way down that leaves an
index behind.

## Runs

| Date (UTC) | Commit | Command | Caught | Seconds |
| --- | --- | --- | --- | --- |
"""
_TABLE = """
## Rows

| Mistake | Promise | Source | File | Caught by |
| --- | --- | --- | --- | --- |
"""


def record(root: Path, verdicts: Sequence[Verdict], took_s: float) -> None:
    """Write the page; recorded runs are kept."""
    path = root / PAGE
    runs = _RUN.findall(path.read_text()) if path.is_file() else []
    runs.append(_run(root, verdicts, took_s))
    path.write_text("\n".join([_HEAD + "\n".join(runs), _TABLE + _rows(verdicts), ""]))


def _run(root: Path, verdicts: Sequence[Verdict], took_s: float) -> str:
    now = datetime.now(UTC)
    caught = sum(each.caught for each in verdicts)
    return (
        f"| {now:%Y-%m-%d %H:%M} | {_commit(root)} | `make mistakes` "
        f"| {caught} of {len(verdicts)} | {took_s:.0f} |"
    )


def _commit(root: Path) -> str:
    command = ["git", "rev-parse", "--short=7", "HEAD"]
    asked = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    return asked.stdout.strip()


def _rows(verdicts: Sequence[Verdict]) -> str:
    return "\n".join(
        f"| `{each.mistake.name}` | {each.mistake.promise} | {each.mistake.source} "
        f"| `{each.mistake.file}` | {_test(each)} |"
        for each in verdicts
    )


def _test(verdict: Verdict) -> str:
    """Name the test without its parameters: they may hold what a table cannot."""
    return f"`{verdict.by.partition('[')[0]}`" if verdict.caught else "**nothing**"
