"""
Where tests keep their files: in memory, where the machine has it.

Each test makes a store of its own, and a store waits for the disk at each commit: half of the time
of the tests that use one, and more while others use the disk too. No test can tell what outlives
a loss of power; what outlives a killed process is in memory as well.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 << 30
"""Of passed tests nothing is kept; the workers of a whole run hold some hundred megabytes."""

_ROOT = "PYTEST_DEBUG_TEMPROOT"


def keep() -> None:
    """Let ``tmp_path`` be there, unless somebody said where; workers inherit the name."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and _free_bytes() >= ROOM_BYTES:
        os.environ.setdefault(_ROOT, str(MEMORY))


def _free_bytes() -> int:
    return shutil.disk_usage(MEMORY).free
