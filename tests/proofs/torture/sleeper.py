"""``pixgate`` whose fail points stop the process (SIGSTOP) instead of killing it."""

from __future__ import annotations

import os
import signal
from functools import partial

from gateway.__main__ import main
from gateway.app import failpoints


def stop() -> None:
    """Stop all threads at once, until SIGCONT."""
    os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    failpoints.armed = partial(failpoints.armed, end=stop)
    main()
