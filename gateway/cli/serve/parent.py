"""
What joins a server process or a worker to the supervisor that started it.

It beats once a second from its event loop, so that one that hangs is noticed, and it ends with
its parent: nobody would stop or replace it any more.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

import click

from gateway.cli.serve.child import BEAT, NO_LINES, READY
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.ports import Gauge, Show

_BEAT: Final = Schedule(every_s=1.0)
_PR_SET_PDEATHSIG: Final = 1
_LAST_S: Final = 35.0
"""After the drain: last runs of tasks, where the store is silent. A process that still runs then
will not end by itself."""


class Parent(NamedTuple):
    """
    Who started this process.

    Attributes:
        number: Of this process among its siblings, from 0.
        descriptor: Of the link to the parent.
        pid: The parent's.
        lines: The descriptor of the way of the request log's lines, negative for none.
    """

    number: int
    descriptor: int
    pid: int
    lines: int = NO_LINES

    def taken_lines(self) -> socket.socket | None:
        """Take the end of the way that was inherited; to be called once."""
        if self.lines < 0:
            return None
        os.set_inheritable(self.lines, False)  # noqa: FBT003 - the system's own signature
        return socket.socket(fileno=self.lines)


class Processes(NamedTuple):
    """How many processes of each kind a supervisor wants, and how many are ready."""

    servers_wanted: int
    servers_running: int
    workers_wanted: int
    workers_running: int

    def message(self) -> bytes:
        """Write them as children are told."""
        return b"%d %d %d %d\n" % self


def end_with(parent: Parent) -> None:
    """
    Have the system send SIGTERM when the parent dies; Linux alone can, elsewhere the link tells.

    To be called first of all.

    Raises:
        ClickException: the parent is dead already.
    """
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # the link tells it then
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent.pid:
        problem = "the supervisor of this process has ended"
        raise click.ClickException(problem)


@dataclass(frozen=True, slots=True)
class Link:
    """The child's end of the link."""

    socket: socket.socket
    show: Show
    stop_s: float

    async def beat(self) -> None:
        """Tell the supervisor that the event loop runs."""
        self._send(BEAT)

    def tell_ready(self) -> None:
        """Tell the supervisor that this process serves, or works."""
        self._send(READY)

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """
        Hear the supervisor until it ends, then end this process; to be called in a thread.

        In order if that is possible, and at once if it takes too long: the event loop may hang,
        and nobody else would notice.
        """
        heard = b""
        while said := self._heard():
            *lines, heard = (heard + said).split(b"\n")
            if lines:
                told = Processes(*map(int, lines[-1].split()))
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(show_processes, self.show, told)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(self.stop_s + _LAST_S)
        os._exit(1)

    def _heard(self) -> bytes:
        """Wait for what the supervisor says next; empty when it has ended."""
        try:
            return self.socket.recv(4096)
        except OSError:
            return b""

    def _send(self, word: bytes) -> None:
        """Send a word; a supervisor that stands still has enough of them."""
        with suppress(OSError):
            self.socket.send(word, socket.MSG_DONTWAIT)


def show_processes(show: Show, processes: Processes) -> None:
    """Show how many processes of each kind there are to be, and how many run."""
    show(Gauge.SERVER_PROCESSES_WANTED, processes.servers_wanted)
    show(Gauge.SERVER_PROCESSES_RUNNING, processes.servers_running)
    show(Gauge.WORKERS_WANTED, processes.workers_wanted)
    show(Gauge.WORKERS_RUNNING, processes.workers_running)


@asynccontextmanager
async def linked(parent: Parent, show: Show, stop_s: float) -> AsyncIterator[Link]:
    """
    Beat for the length of the block, and end with the parent.

    Args:
        parent: Who started this process.
        show: Shows gauges.
        stop_s: How long an orderly stop may take, in seconds.
    """
    os.set_inheritable(parent.descriptor, False)  # noqa: FBT003 - the system's own signature
    link = Link(socket.socket(fileno=parent.descriptor), show, stop_s)
    hearing = (asyncio.get_running_loop(),)
    threading.Thread(target=link.listen, args=hearing, name="supervisor", daemon=True).start()
    task = PeriodicTask("beat", link.beat, _BEAT)
    task.start()
    try:
        yield link
    finally:
        await task.stop()
