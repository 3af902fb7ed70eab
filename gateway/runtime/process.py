"""The process: its clocks, its signals, and several of them on one port."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

import msgspec

from gateway.config.settings import Settings
from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Now

OFFSET = "PIXGATE_CLOCK_OFFSET"
"""Seconds by which a sandbox gateway's wall clock is wrong on purpose."""


def wall_clock(environment: Environment, environ: Mapping[str, str]) -> Now:
    """Return the wall clock in UTC; only the sandbox honours an offset."""
    given = environ.get(OFFSET, "") if environment is Environment.SANDBOX else ""
    if not given:
        return _now
    offset = timedelta(seconds=float(given))
    return lambda: _now() + offset


_now: Final[Now] = partial(datetime.now, UTC)
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


def as_worker(settings: Settings, number: int) -> Settings:
    """Return the settings of worker ``number``, counted from 0: a shared port, its own ops port."""
    admin = settings.admin
    port = admin.port + number if admin.port else 0
    return msgspec.structs.replace(
        settings,
        server=msgspec.structs.replace(settings.server, reuse_port=True),
        admin=msgspec.structs.replace(admin, port=port),
    )
