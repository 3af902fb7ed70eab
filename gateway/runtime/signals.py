"""Signals: SIGTERM and SIGINT stop the process; SIGHUP is refused with a log line."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager

StopSignal = asyncio.Future[signal.Signals]

_log = logging.getLogger("gateway")

_STOPS = (signal.SIGTERM, signal.SIGINT)


NOT_RELOADED = "SIGHUP: nothing was reloaded; restart the process to take another configuration"


def outlive_hangups() -> None:
    """
    Ignore SIGHUP, which ends a process that says nothing about it.

    To be called first of all; processes that are started inherit it.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextmanager
def stop_signals() -> Iterator[StopSignal]:
    """
    Catch both for the length of the block; give a future with the first one. SIGHUP is logged.

    Entered before anything is said or started, so that a signal that comes
    early ends the process in order, too.
    """
    loop = asyncio.get_running_loop()
    received: StopSignal = loop.create_future()

    def note(number: signal.Signals) -> None:
        if not received.done():
            received.set_result(number)

    for number in _STOPS:
        loop.add_signal_handler(number, note, number)
    loop.add_signal_handler(signal.SIGHUP, _log.warning, NOT_RELOADED)
    try:
        yield received
    finally:
        for number in (*_STOPS, signal.SIGHUP):
            loop.remove_signal_handler(number)
        outlive_hangups()
