"""Start and stop: their order, and the time limit of a stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from gateway.app.assembly import Gateway
from gateway.app.banks import start
from gateway.app.store import prepare
from gateway.config.checks import sqlite_remark
from gateway.process.process import warn_of_few_descriptors

_log = logging.getLogger("gateway")

_TURN_S = 0.0005
"""A thread waits so long for the interpreter while the event loop is busy. SQLite's want it several
times for a statement and once for each row; each time would take Python's own 5 ms."""
_COLLECT_AFTER = (20_000, 20, 50)
"""Objects made before the young are collected, and how often the older ones are with them."""


@asynccontextmanager
async def running(gateway: Gateway) -> AsyncIterator[None]:
    """
    Run a gateway for the length of the block.

    When a start fails, the parts already started are stopped again.

    Raises:
        StoreRefused, StoreUnavailable: the store is not ours, or does not answer.
        RuleViolation: its keys differ from the keys of other live processes.
        AdapterRefused: an adapter cannot be started.
        OSError: a port is taken.
    """
    async with AsyncExitStack() as started:
        _start_watching(gateway, started)
        started.push_async_callback(gateway.kernel.store.close)
        started.push_async_callback(gateway.services.cache.close)
        if gateway.kernel.shared is not None:
            started.push_async_callback(gateway.kernel.shared.close)
        await _prepare_store(gateway, started)
        if gateway.bank is not None:
            await gateway.bank.start()
            started.push_async_callback(gateway.bank.close)
        for name, connection in gateway.connections.items():
            await start(name, connection)
            started.push_async_callback(connection.adapter.close)
        started.push_async_callback(gateway.services.identity.close)
        if gateway.role.part.serves:  # the first signing key, where there is none
            await gateway.services.identity.signing_keys.ensure()
        for each in (gateway.services.panel.sessions, gateway.services.sign_on.issuers):
            started.push_async_callback(each.close)
        started.push_async_callback(gateway.role.leases.release)
        for task in gateway.tasks:
            task.start()
            started.push_async_callback(task.stop)
        _tune_the_interpreter()
        await _listen(gateway, started)
        _log.info("sys_startup")
        yield
        _log.info("sys_shutdown")


async def drain(gateway: Gateway, asked: signal.Signals) -> None:
    """
    Stop accepting requests, as the signal demands.

    After SIGTERM the process is not ready at once, but serves requests a while longer, until the
    load balancer has noticed. SIGINT comes from a person at a terminal, who waits.
    """
    gateway.readiness.draining = True
    if not gateway.role.part.serves:
        return
    gateway.services.event_feed.waits.end()
    if asked is signal.SIGTERM:
        await asyncio.sleep(gateway.kernel.settings.server.drain_accept_s)
    await gateway.public.stop_accepting()


def _start_watching(gateway: Gateway, started: AsyncExitStack) -> None:
    """Start logs and metrics, before anything can fail."""
    telemetry = gateway.telemetry
    for part in (telemetry.writer, telemetry.lines, telemetry.logs):
        part.start()
        started.callback(part.stop)
    logging.getLogger("alembic").setLevel(logging.WARNING)  # its news is not for operators
    if tracing := gateway.kernel.tracing:
        tracing.start()
        started.push_async_callback(tracing.stop)
    telemetry.lag.task.start()
    started.push_async_callback(telemetry.lag.task.stop)
    if gateway.role.part.serves:
        warn_of_few_descriptors(gateway.kernel.settings)


def _tune_the_interpreter() -> None:
    """
    Exempt the objects made at start from garbage collection, and let threads take turns often.

    The objects live as long as the process, and scanning them stops every request for tens of
    milliseconds. Requests leave hardly any cycles.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)
    sys.setswitchinterval(_TURN_S)


async def _listen(gateway: Gateway, started: AsyncExitStack) -> None:
    """Open both listeners, the public one last: then the process is ready. A worker has one."""
    await gateway.operations.start()
    started.push_async_callback(gateway.operations.close, 1.0)
    if gateway.role.part.serves:
        await gateway.public.start()
        started.push_async_callback(gateway.public.close, gateway.kernel.settings.server.drain_s)
    gateway.readiness.started = True


async def _prepare_store(gateway: Gateway, started: AsyncExitStack) -> None:
    """
    Check that the store is ours and has our schema.

    The clocks are compared before anything is due, and the process is registered before it writes
    anything under its keys.
    """
    kernel, store, settings = gateway.kernel, gateway.kernel.store, gateway.kernel.settings
    if remark := sqlite_remark(settings):
        _log.info(remark)
    await prepare(store, settings.environment, migrate=settings.migrates, now=kernel.now)
    await gateway.role.store_check.run_once()
    await gateway.role.registration.begin()
    started.push_async_callback(gateway.role.registration.end)
