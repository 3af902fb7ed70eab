"""``pixgate serve`` and ``worker``: the processes that stay."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.console import Terminal, reading
from gateway.cli.startup import uncollected

if TYPE_CHECKING:
    from gateway.app.assembly import Gateway
    from gateway.cli.serve.parent import Parent
    from gateway.config.settings import Settings
    from gateway.runtime.process import Part
    from gateway.telemetry.logs.writer import LineWriter


@click.command("serve")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="How many server processes.",
)
@click.option("--child", "given", type=int, nargs=4, default=None, hidden=True)
@reading
def serve(terminal: Terminal, workers: int, given: tuple[int, int, int, int] | None) -> None:
    """
    Run the gateway until SIGTERM or SIGINT.

    With the embedded sandbox bank, the demo is created and ten calls to try are
    printed. Several server processes share the public port and need PostgreSQL;
    the operations listener of process n is n ports above the configured one. One
    that dies or hangs is replaced.

    With PostgreSQL a worker runs beside them, which follows payouts up, sends
    mail and cleans up, unless worker.run says otherwise. Its operations listener
    is on the port after the last server process's.

    SIGHUP reads the configuration again; the log says what was taken of it, and
    what needs a restart.
    """
    from gateway.runtime.process import outlive_hangups

    outlive_hangups()
    parent, settings = _begun(terminal, given)
    has_worker = settings.worker.run == "host" and not settings.works_inside
    if parent is None and (workers > 1 or has_worker):
        from gateway.cli.serve.supervisor import supervise

        raise SystemExit(supervise(terminal.config, settings, workers))
    run_on_uvloop(_serve(terminal, parent, settings))


@click.command("worker")
@click.option("--child", "given", type=int, nargs=4, default=None, hidden=True)
@reading
def worker(terminal: Terminal, given: tuple[int, int, int, int] | None) -> None:
    """
    Run a background worker until SIGTERM or SIGINT.

    A worker follows payouts up, looks into callbacks, sends mail, counts figures
    and deletes what is old, at a low priority. Several share the work. pixgate
    serve keeps one; this command is for one elsewhere, with worker.run: apart.
    It needs PostgreSQL, and answers on the operations listener alone.
    """
    from gateway.runtime.process import outlive_hangups

    outlive_hangups()
    parent, settings = _begun(terminal, given)
    if settings.store_url.startswith("sqlite"):
        problem = "a worker needs PostgreSQL: with SQLite the gateway process does this work itself"
        raise click.ClickException(problem)
    os.nice(settings.worker.nice)  # first of all: threads have the priority of who begins them
    run_on_uvloop(_work(terminal, parent, settings))


def _begun(
    terminal: Terminal, given: tuple[int, int, int, int] | None
) -> tuple[Parent | None, Settings]:
    """Join the supervisor, if there is one, and read the configuration."""
    from gateway.operations.kernel.audit_context import RuleViolation

    parent = _parent(given)
    try:
        with uncollected():
            return parent, _settings(terminal.config, parent)
    except RuleViolation as problem:
        raise click.ClickException(str(problem)) from problem


def _parent(given: tuple[int, int, int, int] | None) -> Parent | None:
    """Return the supervisor that started this process, and end with it from here on."""
    if given is None:
        return None
    from gateway.cli.serve.parent import Parent, end_with

    parent = Parent(*given)
    end_with(parent)
    return parent


def run_on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    """
    Run a process to its end, on uvloop where there is one.

    Raises:
        ClickException: for what an operator can mend, in one line.
    """
    with _refusing():
        _runner()(work)


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise what an operator can mend as one line."""
    from gateway.cli.serve.startup_errors import REFUSALS

    try:
        yield
    except REFUSALS as problem:
        raise click.ClickException(str(problem) or type(problem).__name__) from problem


def _runner() -> Callable[[Coroutine[Any, Any, None]], None]:
    """Return what runs an event loop."""
    try:
        import uvloop
    except ImportError:  # Windows has none
        return asyncio.run
    return uvloop.run


async def _serve(terminal: Terminal, parent: Parent | None, settings: Settings) -> None:
    """Serve until a signal comes."""
    from gateway.runtime.process import Part

    lines = None if parent is None else parent.taken_lines()
    await _run(terminal, parent, settings, Part(works=settings.works_inside, lines=lines))


async def _work(terminal: Terminal, parent: Parent | None, settings: Settings) -> None:
    """Do a worker's tasks until a signal comes."""
    from gateway.runtime.process import Part

    lines = None if parent is None else parent.taken_lines()
    await _run(terminal, parent, settings, Part(serves=False, lines=lines))


async def _run(terminal: Terminal, parent: Parent | None, settings: Settings, part: Part) -> None:
    """Assemble and start a process, print its addresses, and wait for a signal."""
    with uncollected():
        from gateway.app.assembly import assemble
        from gateway.app.lifecycle import drain, running
        from gateway.cli.serve.reload import Reload
        from gateway.net.common.descriptors import raise_descriptor_limit
        from gateway.runtime.process import step_back, stop_signals, wanted_descriptors

        raise_descriptor_limit(wanted_descriptors(settings))
        with_bank = part.serves and (parent is None or parent.number == 0)
        gateway = assemble(settings, os.environ, with_bank=with_bank, part=part)
        reload = Reload(gateway, partial(_settings, terminal.config, parent))
    with stop_signals(reload.asked.set) as asked:
        async with _watched(gateway, parent) as tell_ready, running(gateway), reload.running():
            tell_ready()
            if not part.serves:  # from here on: a start must end before it is taken for dead
                step_back(settings.worker.nice)
            await _welcome(terminal, gateway, settings)
            gateway.telemetry.lag.forget()
            await drain(gateway, await asked)


def _settings(config: Path, parent: Parent | None) -> Settings:
    """Read the configuration, as it is for this process."""
    from gateway.cli.configuration import settings_of
    from gateway.runtime.process import as_child

    settings = settings_of(config)
    return settings if parent is None else as_child(settings, parent.number)


@asynccontextmanager
async def _watched(gateway: Gateway, parent: Parent | None) -> AsyncIterator[Callable[[], None]]:
    """Beat for a supervisor, if there is one; gives what tells that requests are served."""
    from gateway.cli.serve.parent import Processes, linked, show_processes

    show, server = gateway.telemetry.observer.show, gateway.kernel.settings.server
    if parent is None:
        part = gateway.role.part
        serves, works = int(part.serves), int(part.works)
        yield lambda: show_processes(show, Processes(serves, serves, works, works))
        return
    async with linked(parent, show, server.drain_accept_s + server.drain_s) as link:
        yield link.tell_ready


async def _welcome(terminal: Terminal, gateway: Gateway, settings: Settings) -> None:
    """Print the addresses and, with the embedded bank, the first calls to try."""
    say = partial(_say, gateway.telemetry.writer)
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


def _say(writer: LineWriter, line: str) -> None:
    """Print a line as lines of the log are written: nobody waits for whoever reads it."""
    writer.put(f"{line}\n".encode())
