"""
The commit that this program was built from.

``hatch_build.py`` writes it into the wheel. A checkout asks git, once per process. Imports nothing
but the standard library: the build runs before anything is installed.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

UNKNOWN: Final = "unknown"
RECORDED: Final = "gateway/config/commit.txt"
"""Where the wheel has it."""

_ROOT: Final = Path(__file__).parents[2]
_WAIT_S: Final = 5.0
"""For git, which takes some milliseconds: a start must not hang on a disk that does not answer."""


@cache
def built_from() -> str:
    """Return the commit: twelve hexadecimal digits, the value of PIXGATE_COMMIT, or ``unknown``."""
    return commit_at(_ROOT)


def commit_at(root: Path) -> str:
    """Return the commit that the wheel recorded, else that of the checkout."""
    recorded = root / RECORDED
    if recorded.exists():
        return recorded.read_text(encoding="utf-8").strip() or UNKNOWN
    if not (root / ".git").exists():
        return UNKNOWN
    command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(  # noqa: S603 - no part of it comes from outside
            command, capture_output=True, text=True, timeout=_WAIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN
    return done.stdout.strip()
