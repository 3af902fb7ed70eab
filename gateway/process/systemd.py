"""Notifications to systemd, as of sd_notify(3): ready, alive, stopping."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from gateway.process.periodic_task import PeriodicTask, Schedule

_log = logging.getLogger(__name__)

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
_ALIVE: Final = "WATCHDOG=1"


@asynccontextmanager
async def notifying(environ: Mapping[str, str]) -> AsyncIterator[Callable[[str], None]]:
    """
    Feed the watchdog from the event loop for the length of the block, where systemd asks for it.

    systemd kills and restarts a process whose event loop hangs: it gets no ``WATCHDOG=1``.

    Yields:
        A function that sends one more state. Without ``NOTIFY_SOCKET`` nothing is sent.
    """
    notify = partial(_send, environ.get("NOTIFY_SOCKET", ""))

    async def feed() -> None:
        notify(_ALIVE)

    pause_s = _pause_s(environ)
    if not pause_s:
        yield notify
        return
    watchdog = PeriodicTask("watchdog", feed, Schedule(every_s=pause_s))
    watchdog.start()
    try:
        yield notify
    finally:
        await watchdog.stop()


def _pause_s(environ: Mapping[str, str]) -> float:
    """Return half the seconds that systemd waits for a sign of life; 0 where it does not wait."""
    is_ours = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(environ.get("WATCHDOG_USEC", "0")) / 2e6 if is_ours else 0.0


def _send(address: str, state: str) -> None:
    """Send a state without blocking; a failure is logged."""
    if not address:
        return
    # A leading @ stands for the zero byte of an abstract address.
    to = f"\0{address[1:]}" if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)  # noqa: FBT003 - the system's own signature
            sending.sendto(state.encode(), to)
    except OSError as problem:
        _log.warning("systemd did not get %s: %s", state, problem)
