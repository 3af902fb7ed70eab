"""The process: its clocks, its signals, its file descriptors."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from math import ceil
from pathlib import Path
from typing import Final

from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.clocks import Now
from gateway.net.common.descriptors import RESERVED, callers_below, descriptor_limit
from gateway.net.common.runtime import utc_now

OFFSET = "PIXGATE_CLOCK_OFFSET"
"""Seconds by which a sandbox gateway's wall clock is wrong on purpose."""


def clock_offset(environment: Environment, environ: Mapping[str, str]) -> timedelta:
    """Return by how much the wall clock is wrong on purpose; nothing outside the sandbox."""
    given = environ.get(OFFSET, "") if environment is Environment.SANDBOX else ""
    return timedelta(seconds=float(given or 0))


def wall_clock(environment: Environment, environ: Mapping[str, str]) -> Now:
    """Return the wall clock in UTC; only the sandbox honours an offset."""
    offset = clock_offset(environment, environ)
    return (lambda: utc_now() + offset) if offset else utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """
    The role of a process; a single process has all roles.

    Attributes:
        serves: Answers requests.
        works: Runs background work: follow-up, mail, figures, retention.
    """

    serves: bool = True
    works: bool = True


ALONE: Final = Part()

StopSignal = asyncio.Future[signal.Signals]
_log = logging.getLogger("gateway")
_STOPS = (signal.SIGTERM, signal.SIGINT)
_AUTOGROUP: Final = Path("/proc/self/autogroup")
NOT_RELOADED = "SIGHUP: nothing was reloaded; restart the process to take another configuration"
log_not_reloaded: Final = partial(_log.warning, NOT_RELOADED)


def outlive_hangups() -> None:
    """
    Ignore SIGHUP, which ends a process that says nothing about it.

    To be called first of all; processes that are started inherit it.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@contextmanager
def stop_signals(on_hangup: Callable[[], None] = log_not_reloaded) -> Iterator[StopSignal]:
    """
    Catch both signals for the length of the block; yield a future with the first one.

    SIGHUP calls ``on_hangup``.

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
    loop.add_signal_handler(signal.SIGHUP, on_hangup)
    try:
        yield received
    finally:
        for number in (*_STOPS, signal.SIGHUP):
            loop.remove_signal_handler(number)
        outlive_hangups()


def step_back(nice: int) -> None:
    """
    Lower the priority of the process, as ``nice`` says.

    Many Linux systems share the processor out among sessions first (autogroup); there the
    priority of a process counts within its session alone. A session that we share with others,
    such as a terminal's, is left as it is.
    """
    if os.getsid(0) == os.getpid():
        with suppress(OSError):  # a system without autogroups
            _AUTOGROUP.write_text(str(nice))


_MARGIN: Final = 1.2
"""One fifth more: logs, files that are read, connections that are being closed."""


def wanted_descriptors(settings: Settings) -> int:
    """Return the maximum number of file descriptors that a process needs."""
    banks = sum(each.in_flight + each.payout_connections for each in settings.providers.values())
    most = settings.server.connections + settings.database.pool + banks + RESERVED
    return ceil(most * _MARGIN)


def warn_of_few_descriptors(settings: Settings) -> None:
    """Log a warning if the system allows fewer than are wanted."""
    limit, wanted = descriptor_limit(), wanted_descriptors(settings)
    if limit < wanted:
        _log.warning(
            "at most %d file descriptors (RLIMIT_NOFILE), and the configured connections may need "
            "%d: callers are turned away from descriptor %d on",
            *(limit, wanted, callers_below(limit)),
        )
