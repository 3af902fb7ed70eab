"""
Supervising server processes and a worker: start them, pass signals on, replace who died or hangs.

Each is this same program with a number. One that dies again and again is started ever more
seldom and harms no other. All end only when no server process has ever been ready: that no
restart mends. The worker ends last, and has what the others leave behind.
"""

from __future__ import annotations

import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from gateway.cli.serve.child import NO_LINES, SILENT_S, Child, Program
from gateway.cli.serve.parent import Processes
from gateway.config.settings import Settings
from gateway.telemetry.logs.lines import encode
from gateway.telemetry.logs.writer import LineWriter, to_descriptor, without_waiting

_POLL_S: Final = 0.2
"""A dead process is noticed this soon; looking more often would cost CPU for nothing."""
_MOST_FAILURES: Final = 3
"""Of each process, before any has been ready: a database may be a few seconds late, not more."""
_WAY_BYTES: Final = 1 << 20
"""Lines of a second or two, if the system allows as much; who has more stores them itself."""
_STOPS: Final = (signal.SIGTERM, signal.SIGINT)


def supervise(config: Path, settings: Settings, wanted: int) -> int:
    """
    Run server processes, and a worker where one belongs to them, until a signal ends them.

    Returns:
        The exit status: 0 when every process ended well, else 1.

    Raises:
        ClickException: several server processes are wanted, and the settings allow one.
    """
    if settings.store_url.startswith("sqlite"):
        problem = "several server processes need PostgreSQL: an SQLite store has one process"
        raise click.ClickException(problem)
    if settings.server.single_process and wanted > 1:
        problem = "several server processes need server.single_process: false, and a cache.url"
        raise click.ClickException(problem)
    supervisor = Supervisor(config, wanted, settings.worker.run)
    for number in (*_STOPS, signal.SIGHUP):
        signal.signal(number, supervisor.note)
    return supervisor.run()


def _command(name: str, config: Path) -> Sequence[str]:
    """Return a command of ours."""
    # -P: not what lies in the current folder and is called like a module of ours
    return (sys.executable, "-P", "-m", "gateway", name, "--config", str(config))


class Supervisor:
    """
    Keeps so many processes running.

    Attributes:
        servers: The places of server processes.
        workers: That of the worker, where there is one.
    """

    def __init__(
        self,
        config: Path,
        wanted: int,
        run: str,
        command: Callable[[str, Path], Sequence[str]] = _command,
    ) -> None:
        """Start nothing yet; ``run`` is the setting ``worker.run``."""
        number = sys.stdout.fileno()
        self._writer = LineWriter(to_descriptor(number), without_waiting(number))
        has_worker = run == "host"
        self._way = _way() if has_worker else None  # ours stays open: what waits outlives a worker
        to, out = (each.fileno() for each in self._way) if self._way else (NO_LINES, NO_LINES)
        self.servers = [
            Child(Program(f"server process {number}", number, command("serve", config), to))
            for number in range(wanted)
        ]
        self.workers = [
            Child(Program("the worker", number, command("worker", config), out))
            for number in range(wanted, wanted + has_worker)
        ]
        self._work_inside = run == "inside"
        self._signals: list[int] = []
        self._sent: set[int] = set()
        self._stop: int | None = None
        self._workers_stop = False
        self._was_ready = False
        self._status = 0

    @property
    def places(self) -> Sequence[Child]:
        """All of them."""
        return (*self.servers, *self.workers)

    def run(self) -> int:
        """Start all, replace who dies, and wait for the last; return the exit status."""
        self._writer.start()
        turned = time.monotonic()
        while self._stop is None or any(place.is_there for place in self.places):
            self._start_due()
            time.sleep(_POLL_S)
            now = time.monotonic()
            self._turn(now - turned)
            turned = now
        self._writer.stop()
        return self._status

    def note(self, number: int, _frame: object) -> None:
        """Take a signal; it is passed on in the next turn, when nothing is half started."""
        self._signals.append(number)

    def _turn(self, turn_s: float) -> None:
        """Look after each process once."""
        while self._signals:
            self._pass_on(self._signals.pop(0))
        for place in self.places:
            place.listen()
            if place.watch(turn_s):
                self._say("error", f"{place.name} was silent for {SILENT_S:g} s: killed")
            status = place.reap()
            if status is not None:
                self._ended(place, status)
        counted = self._counted()
        self._was_ready = self._was_ready or counted.servers_running > 0
        for place in self.places:
            place.tell(counted.message())
        self._stop_workers()

    def _counted(self) -> Processes:
        """Count who is to be there, and who is ready; who does a worker's tasks counts as one."""
        servers, workers = (
            (len(places), sum(each.is_ready for each in places))
            for places in (self.servers, self.workers)
        )
        return Processes(*servers, *(servers if self._work_inside else workers))

    def _stop_workers(self) -> None:
        """Stop the worker once it has what the last server process left behind."""
        is_late = any(each.is_there for each in self.servers)
        if self._stop is None or is_late or self._workers_stop:
            return
        self._workers_stop = True
        for each in self.workers:
            each.send(self._stop)

    def _start_due(self) -> None:
        """Start what is due."""
        for place in self.places:
            if self._stop is not None or not place.is_due:
                continue
            try:
                place.start()
            except OSError as problem:
                self._say("error", f"{place.name} cannot be started: {problem}")

    def _pass_on(self, number: int) -> None:
        """Pass a signal on to every process; one that stops waits until the worker's turn."""
        places = self.places
        if number in _STOPS:
            self._stop, places = number, self.servers
            self._sent.add(number)
        else:
            self._say("info", f"SIGHUP: passed on to {len(places)} processes")
        for place in places:
            place.send(number)

    def _ended(self, place: Child, status: int) -> None:
        """Say what becomes of it: replaced, or all end."""
        if self._stop is not None:
            # One that was just being started had no handler yet.
            self._status |= int(status != 0 and -status not in self._sent)
            return
        how = f"{place.name} ended with status {status}"
        if not self._was_ready and all(each.failures >= _MOST_FAILURES for each in self.servers):
            self._say("error", f"{how}, and none has ever been ready: giving up")
            self._status = 1
            self._pass_on(signal.SIGTERM)
            return
        self._say("warning", f"{how}; another one starts in {place.waits_s():.1f} s")

    def _say(self, level: str, message: str) -> None:
        """Write a line of the log, without waiting for whoever reads it."""
        line = {"ts": datetime.now(UTC), "level": level, "event": "supervisor", "message": message}
        self._writer.put(encode(line))


def _way() -> tuple[socket.socket, socket.socket] | None:
    """
    Make the way of the request log's lines to the worker: its one end for all that send.

    None where the system has no sockets that keep messages apart and in order.
    """
    try:
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except (AttributeError, OSError):
        return None
    ends[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _WAY_BYTES)
    return ends
