"""``pixgate serve`` and ``worker``: the long-running processes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.console import Terminal, reading

if TYPE_CHECKING:
    from gateway.app.assembly import Gateway
    from gateway.config.settings import Settings
    from gateway.process.process import Part


@click.command("serve")
@reading
def serve(terminal: Terminal) -> None:
    """
    Run the gateway until SIGTERM or SIGINT.

    With the embedded sandbox bank, the demo is created and ten calls to try are
    printed. The process also follows payouts up, sends mail and cleans up, unless
    worker.run is apart. Several share a public port with server.reuse_port: true,
    each with an operations port of its own; they need PostgreSQL.

    SIGHUP reads the configuration again; the log lists applied settings, and
    settings that need a restart.
    """
    from gateway.process.process import Part

    settings = _begun(terminal)
    part = Part(works=settings.worker.run == "inside")
    run_on_uvloop(_run(terminal, settings, part))


@click.command("worker")
@reading
def worker(terminal: Terminal) -> None:
    """
    Run a background worker until SIGTERM or SIGINT.

    A worker follows payouts up, looks into callbacks, sends mail, counts figures
    and deletes old rows, at a low priority, for server processes with
    worker.run: apart. Several share the work. It needs PostgreSQL, and answers on
    the operations listener alone.
    """
    from gateway.process.process import Part

    settings = _begun(terminal)
    if settings.store_url.startswith("sqlite"):
        problem = "a worker needs PostgreSQL: with SQLite the gateway process does this work itself"
        raise click.ClickException(problem)
    os.nice(settings.worker.nice)  # first of all: threads have the priority of who begins them
    run_on_uvloop(_run(terminal, settings, Part(serves=False)))


def _begun(terminal: Terminal) -> Settings:
    """Read the configuration; from here on SIGHUP does not end the process."""
    from gateway.cli.configuration import settings_of
    from gateway.process.process import outlive_hangups

    outlive_hangups()
    return settings_of(terminal.config)


def run_on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    """
    Run a process to its end, on uvloop if it is installed.

    Raises:
        ClickException: an operator can fix the problem; one line.
    """
    from gateway.app.commands.startup_errors import REFUSALS

    try:
        import uvloop

        begin: Callable[[Coroutine[Any, Any, None]], None] = uvloop.run
    except ImportError:  # Windows has none
        begin = asyncio.run
    try:
        begin(work)
    except REFUSALS as problem:
        raise click.ClickException(str(problem) or type(problem).__name__) from problem


async def _run(terminal: Terminal, settings: Settings, part: Part) -> None:
    """Assemble and start a process, print its addresses, and wait for a signal."""
    from gateway.app.assembly import assemble
    from gateway.app.commands.reload import Reload
    from gateway.app.lifecycle import drain, running
    from gateway.cli.configuration import settings_of
    from gateway.net.common.descriptors import raise_descriptor_limit
    from gateway.process.process import step_back, stop_signals, wanted_descriptors
    from gateway.process.systemd import READY, STOPPING, notifying

    raise_descriptor_limit(wanted_descriptors(settings))
    gateway = assemble(settings, os.environ, with_bank=part.serves, part=part)
    reload = Reload(gateway, partial(settings_of, terminal.config))
    with stop_signals(reload.asked.set) as asked:
        # the watchdog is fed to the very end: what is flushed then may take a while
        async with notifying(os.environ) as notify, running(gateway), reload.running():
            notify(READY)
            if not part.serves:  # from here on: whoever starts it waits until it is ready
                step_back(settings.worker.nice)
            await _welcome(terminal, gateway, settings)
            gateway.telemetry.lag.forget()
            received = await asked
            notify(STOPPING)
            await drain(gateway, received)


async def _welcome(terminal: Terminal, gateway: Gateway, settings: Settings) -> None:
    """Print the addresses and, with the embedded bank, the first calls to try."""

    def say(line: str) -> None:
        """Print a line through the log's writer, which never blocks on a slow reader."""
        gateway.telemetry.writer.put(f"{line}\n".encode())

    if gateway.role.part.serves:
        say(f"pixgate listens on http://{settings.server.host}:{gateway.public.port}")
    say(f"operations    on http://{settings.admin.host}:{gateway.operations.port}")
    if gateway.bank is None:
        return
    from gateway.app.sandbox import simulator

    bank = gateway.bank
    urls = {
        "base_url": f"http://{settings.server.host}:{gateway.public.port}",
        "ops_url": f"http://{settings.admin.host}:{gateway.operations.port}",
        "sandbox_bank_url": f"http://{bank.host}:{bank.port}",
        "sandbox_control_url": bank.control_url,
    }
    for line in await simulator().first_calls(gateway.kernel, terminal.actor, urls):
        say(line)
