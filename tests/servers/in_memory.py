"""
Where tests keep their files: in memory, where the machine has it.

Each test makes a store of its own, and a store waits for the disk at each commit: half of the time
of the tests that use one, and more while others use the disk too. A database of PostgreSQL is some
hundred files, which cost ten times as much on a disk. No test can tell what outlives a loss of
power; what outlives a killed process is in memory as well.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 3 << 30
"""Of passed tests nothing is kept; the workers of a whole run hold less than half of it."""

_ROOTS = ("PYTEST_DEBUG_TEMPROOT", "TMPDIR")
"""Of ``tmp_path``, and of what else makes a file that is thrown away."""


def keep() -> None:
    """Create both, unless configured; workers and processes inherit the names."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and _free_bytes() >= ROOM_BYTES:
        for root in _ROOTS:
            os.environ.setdefault(root, str(MEMORY))
        tempfile.tempdir = None  # it may have been looked up before


def _free_bytes() -> int:
    return shutil.disk_usage(MEMORY).free
