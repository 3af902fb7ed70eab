"""
The gateway with its stacks noted every few milliseconds of its own CPU time.

Started as ``pixgate`` is, with the file for the stacks in front. A stack is noted
when Python next runs, so C code counts for the Python that runs after it.
"""

from __future__ import annotations

import atexit
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

from gateway.__main__ import main

INTERVAL_S = 0.003

_noted: Counter[tuple[str, ...]] = Counter()


def note(_number: int, frame: FrameType | None) -> None:
    """Note the files of a stack, innermost first."""
    files = []
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    _noted[tuple(files)] += 1


def write(file: Path) -> None:
    """Write stacks and how often each was seen."""
    file.write_text("".join(f"{count} {';'.join(files)}\n" for files, count in _noted.items()))


if __name__ == "__main__":
    atexit.register(write, Path(sys.argv.pop(1)))
    signal.signal(signal.SIGPROF, note)
    signal.signal(signal.SIGUSR1, lambda *_: _noted.clear())
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
    sys.argv[0] = "pixgate"
    main()
