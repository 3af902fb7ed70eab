"""``pixgate serve``, ``worker`` and ``sandbox-bank``: the processes that stay."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from gateway.cli.console import Terminal, reading
from gateway.cli.startup import uncollected

if TYPE_CHECKING:
    from gateway.app.assembly import Gateway
    from gateway.cli.serve.parent import Parent
    from gateway.config.settings import Settings
    from gateway.runtime.process import Part
    from gateway.telemetry.logs.writer import LineWriter


class Wanted(TypedDict):
    """Options in the place of settings of ``sandbox_bank``; None takes the setting."""

    port: int | None
    control_port: int | None
    file: str | None
    settle_after_s: float | None


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


@click.command("sandbox-bank")
@click.option("--port", type=click.IntRange(0, 65535), help="Instead of sandbox_bank.port.")
@click.option(
    "--control-port",
    type=click.IntRange(0, 65535),
    help="Instead of sandbox_bank.control_port.",
)
@click.option(
    "--db",
    "file",
    type=click.Path(dir_okay=False),
    help="The bank's SQLite file, instead of sandbox_bank.file.",
)
@click.option(
    "--settle-after",
    "settle_after_s",
    type=float,
    help="Seconds until a payout is settled, instead of sandbox_bank.settle_after_s.",
)
@click.option(
    "--callbacks",
    "gateway",
    metavar="URL",
    default="",
    help="The gateway's address, such as http://127.0.0.1:8080.  [default: no callbacks]",
)
@reading
def sandbox_bank(terminal: Terminal, *, gateway: str, **wanted: Unpack[Wanted]) -> None:
    """
    Run the sandbox bank alone, on loopback.

    Ports and file are those of the gateway's configuration, sandbox_bank: use the
    same --config and the same environment variables. With --callbacks it sends
    callbacks about payouts, payments and refunds to a gateway; address and secret
    come from that configuration, too.
    """
    run_on_uvloop(_bank(terminal, gateway, **wanted))


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
    from gateway.cli.context import AdminContext
    from gateway.cli.sandbox.demo import summary
    from gateway.cli.sandbox.demo_factory import made_demo
    from gateway.operations.demo.document import DemoUrls
    from gateway.operations.kernel.audit_context import AuditContext

    bank = gateway.bank
    urls = DemoUrls(
        base_url=f"http://{settings.server.host}:{gateway.public.port}",
        ops_url=f"http://{settings.admin.host}:{gateway.operations.port}",
        sandbox_bank_url=f"http://{bank.host}:{bank.port}",
        sandbox_control_url=f"http://{bank.host}:{bank.control_port}",
    )
    acting = AuditContext(terminal.actor, gateway.kernel.now)
    office = AdminContext(gateway.kernel, acting)
    for line in summary(await made_demo(office, urls), gateway.kernel.now().date()):
        say(line)


def _say(writer: LineWriter, line: str) -> None:
    """Print a line as lines of the log are written: nobody waits for whoever reads it."""
    writer.put(f"{line}\n".encode())


async def _bank(terminal: Terminal, gateway: str, **wanted: Unpack[Wanted]) -> None:
    """Run the bank until it is told to stop."""
    from msgspec.structs import replace

    from gateway.cli.config.callbacks import told
    from gateway.cli.configuration import settings_of
    from gateway.cli.sandbox.demo_factory import sandbox_only
    from gateway.domain.accounts.accounts import Environment
    from gateway.runtime.process import stop_signals, wall_clock
    from provider_adapters.sandbox.simulator.dialect import SandboxBank

    settings = settings_of(terminal.config)
    sandbox_only(settings)
    given = {name: value for name, value in wanted.items() if value is not None}
    configured = replace(settings, sandbox_bank=replace(settings.sandbox_bank, **given))
    bank = SandboxBank(
        db_path=str(configured.bank_file),
        port=configured.sandbox_bank.port,
        control_port=configured.sandbox_bank.control_port,
        settle_after_s=configured.sandbox_bank.settle_after_s,
        now=wall_clock(Environment.SANDBOX, os.environ),
        listener=told(terminal.config, gateway) if gateway else None,
    )
    with stop_signals() as asked:
        await bank.start()
        click.echo(f"sandbox bank on http://{bank.host}:{bank.port}")
        click.echo(f"its control  on http://{bank.host}:{bank.control_port}")
        await asked
        await bank.close()
