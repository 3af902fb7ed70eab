"""``pixgate`` whose wall clock is put forward and back by a file, while it runs."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

FILE: Final = "TEST_CLOCK_FILE"
_FORM: Final = struct.Struct("d")


def put(file: Path, seconds: float) -> None:
    with file.open("r+b" if file.exists() else "w+b") as opened:
        opened.write(_FORM.pack(seconds))


def clock(file: Path) -> Callable[[], datetime]:
    with file.open("rb") as opened:
        seen = mmap.mmap(opened.fileno(), _FORM.size, access=mmap.ACCESS_READ)

    def now() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=_FORM.unpack_from(seen)[0])

    return now


if __name__ == "__main__":
    from gateway.__main__ import main
    from gateway.app import assembly

    now = clock(Path(os.environ[FILE]))
    assembly.wall_clock = lambda *_: now
    main()
