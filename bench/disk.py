"""What one commit costs at least: the time until a disk says that it has written."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

_BLOCK = b"x" * 4096


def flushes_ms(folder: Path, seconds: float) -> list[float]:
    """Append 4 KiB and ``fdatasync``, again and again; how long each took, in milliseconds."""
    taken: list[float] = []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        end = time.perf_counter() + seconds
        while (begun := time.perf_counter()) < end:
            file.write(_BLOCK)
            os.fdatasync(file.fileno())
            taken.append((time.perf_counter() - begun) * 1000)
    return taken
