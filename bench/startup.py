"""From the start of the process to its first answer: a balance, read through to the bank."""

from __future__ import annotations

import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench import stub, system
from bench.partner import GatewaySite, Partner, Prepared, write_configuration

START = "start of the process to first answer, s"
START_CPU = "the same, CPU s"
FIRST_START = "first start, an empty store, to listening, s"

_PATIENCE_S = 30.0
_PAUSE_S = 0.002
_OK = b"HTTP/1.1 200 "


@dataclass(frozen=True, slots=True, kw_only=True)
class Startable:
    """A gateway that can be started again and again."""

    place: GatewaySite
    config: Path
    partner: Partner


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What one start took; CPU is what hardly depends on what else runs."""

    wall_s: float
    cpu_s: float


@contextmanager
def startable(folder: Path, prepared: Prepared) -> Iterator[Startable]:
    """Copy the store and keep a bank running; raises NotStarted."""
    shutil.copytree(prepared.folder, folder)
    port, operations, bank = system.free_ports(3)
    command = [sys.executable, str(Path(stub.__file__)), "--port", str(bank)]
    place = GatewaySite(folder=folder, database="", port=port, operations=operations, bank=bank)
    others = system.cores().others
    with system.running(command, others, folder, lambda: system.answers(bank) > 0):
        config = write_configuration(place)
        yield Startable(place=place, config=config, partner=prepared.partner)


def taken(folder: Path, prepared: Prepared, times: int) -> Mapping[str, list[float]]:
    """Start so often each way, in a new folder; raises NotStarted."""
    with startable(folder, prepared) as ready:
        start(ready)  # compiles what no command imported before
        starts = [start(ready) for _ in range(times)]
        firsts = [first_start(ready) for _ in range(times)]
    return {
        START: [each.wall_s for each in starts],
        START_CPU: [each.cpu_s for each in starts],
        FIRST_START: [each.wall_s for each in firsts],
    }


def start(ready: Startable) -> Start:
    """Start it on a store that is as it must be, ask until it answers, and end it."""
    request = ready.partner.request(ready.partner.account)
    return _timed(ready, lambda: _answers(ready.place.port, request))


def first_start(ready: Startable) -> Start:
    """Start it on an empty store, which is then migrated, until it listens."""
    for file in ready.place.folder.glob("*.db*"):
        file.unlink()
    request = ready.partner.request(ready.partner.account)
    return _timed(ready, lambda: bool(_said(ready.place.port, request)))


def _timed(ready: Startable, is_there: Callable[[], bool]) -> Start:
    """Take the time until it is there; raises NotStarted."""
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(ready.config)]
    began = time.perf_counter()
    measured = system.cores().measured
    with system.running(command, measured, ready.place.folder, is_there, _PAUSE_S) as pid:
        return Start(wall_s=time.perf_counter() - began, cpu_s=system.cpu_s([pid]))


def _answers(port: int, request: bytes) -> bool:
    return _said(port, request).startswith(_OK)


def _said(port: int, request: bytes) -> bytes:
    """Ask on a fresh connection; nothing while nobody listens."""
    with (
        suppress(OSError),
        socket.create_connection(("127.0.0.1", port), _PATIENCE_S) as connection,
    ):
        connection.sendall(request)
        return connection.recv(4096)
    return b""
