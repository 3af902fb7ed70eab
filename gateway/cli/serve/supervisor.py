"""
Supervising several workers: start them, pass a stop on, replace one that died.

A worker is this same command with a number. One that dies young again and
again ends them all: something is wrong that a restart does not mend.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click

from gateway.store.kernel.address import address, is_sqlite

# A dead worker is noticed this soon; looking more often would cost CPU for nothing.
_POLL_S = 0.2
# A worker that dies younger than this, this many times in a row, cannot start at all: a restart
# loop would only hide that.
_YOUNG_S = 30.0
_MOST_YOUNG_DEATHS = 3


def supervise(config: Path, workers: int) -> int:
    """
    Run workers until a signal ends them.

    Returns:
        The exit status: 0 when every worker ended well.

    Raises:
        ClickException: the store is a file, which has one writer.
    """
    from gateway.cli.context import settings_of

    if is_sqlite(address(settings_of(config).store_url)):
        problem = "several workers need PostgreSQL: an SQLite store has one process"
        raise click.ClickException(problem)
    crew = Crew(config, workers)
    signal.signal(signal.SIGHUP, _hung_up)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, crew.stop)
    return crew.run()


class Crew:
    """The workers of one supervisor."""

    def __init__(self, config: Path, workers: int) -> None:
        """Start nothing yet."""
        self._config = config
        self._workers = workers
        self._running: dict[int, tuple[subprocess.Popen[bytes], float]] = {}
        self._stopping = False
        self._young_deaths = 0
        self._status = 0

    def run(self) -> int:
        """Start all, replace who dies, and wait for the last; return the exit status."""
        for number in range(self._workers):
            self._start(number)
        while self._running:
            time.sleep(_POLL_S)
            for number, (process, started) in list(self._running.items()):
                status = process.poll()
                if status is not None:
                    self._ended(number, status, time.monotonic() - started)
        return self._status

    def stop(self, number: int, _frame: object) -> None:
        """Pass a signal on."""
        self._stopping = True
        for process, _started in self._running.values():
            process.send_signal(number)

    def _start(self, number: int) -> None:
        """Start one worker."""
        # -P: not what lies in the current folder and is called like a module of ours
        command = [sys.executable, "-P", "-m", "gateway", "serve"]
        command += ["--config", str(self._config), "--worker", str(number)]
        # In a session of its own: what a terminal sends to all of us reaches it through us, once.
        process = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - ours
        self._running[number] = (process, time.monotonic())

    def _ended(self, number: int, status: int, age_s: float) -> None:
        """Replace a worker that died, or give up."""
        del self._running[number]
        if self._stopping:
            self._status = self._status or status
            return
        self._young_deaths = self._young_deaths + 1 if age_s < _YOUNG_S else 0
        if self._young_deaths >= _MOST_YOUNG_DEATHS:
            self._status = status or 1
            self.stop(signal.SIGTERM, None)
            return
        self._start(number)


def _hung_up(_number: int, _frame: object) -> None:
    """Say what became of a SIGHUP; workers have sessions of their own and are not told."""
    from gateway.runtime.process import NOT_RELOADED

    os.write(sys.stderr.fileno(), f"{NOT_RELOADED}\n".encode())
