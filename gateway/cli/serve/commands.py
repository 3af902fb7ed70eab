"""``pixgate serve`` and ``pixgate sandbox-bank``: the processes that stay."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click

from gateway.cli.console import Terminal, reading
from gateway.cli.startup import uncollected

if TYPE_CHECKING:
    from gateway.app.assembly import Gateway
    from gateway.config.settings import Settings


class Wanted(TypedDict):
    """The options of a sandbox bank in a process of its own."""

    port: int
    control_port: int
    db: Path
    settle_after: float


@click.command("serve")
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes."
)
@click.option("--worker", type=int, default=None, hidden=True)
@reading
def serve(terminal: Terminal, workers: int, worker: int | None) -> None:
    """
    Run the gateway until SIGTERM or SIGINT.

    With the embedded sandbox bank, the demo is created and ten calls to try are
    printed. Several workers share the public port and need PostgreSQL; the
    operations listener of worker n is n ports above the configured one. SIGHUP
    is ignored.
    """
    from gateway.runtime.process import outlive_hangups

    outlive_hangups()
    if workers > 1:
        from gateway.cli.serve.supervisor import supervise

        raise SystemExit(supervise(terminal.config, workers))
    run_on_uvloop(_serve(terminal, worker))


@click.command("sandbox-bank")
@click.option("--port", type=click.IntRange(0, 65535), default=8090, show_default=True)
@click.option("--control-port", type=click.IntRange(0, 65535), default=8091, show_default=True)
@click.option(
    "--db",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The bank's SQLite file.",
)
@click.option(
    "--settle-after",
    type=float,
    default=0.3,
    show_default=True,
    help="Seconds until a payout is settled.",
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

    With --callbacks it sends callbacks about payouts, payments and refunds to a
    gateway. Address and secret come from the gateway's configuration: use the
    same --config and the same environment variables.
    """
    run_on_uvloop(_bank(terminal, gateway, **wanted))


def run_on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    """
    Run a process to its end, on uvloop where there is one.

    Raises:
        ClickException: for what an operator can mend, in one line.
    """
    from gateway.cli.serve.startup_errors import REFUSALS

    try:
        _runner()(work)
    except REFUSALS as problem:
        raise click.ClickException(str(problem) or type(problem).__name__) from problem


def _runner() -> Callable[[Coroutine[Any, Any, None]], None]:
    """Return what runs an event loop."""
    try:
        import uvloop
    except ImportError:  # Windows has none
        return asyncio.run
    return uvloop.run


async def _serve(terminal: Terminal, worker: int | None) -> None:
    """Assemble and start the gateway, print its addresses, and wait for a signal."""
    with uncollected():
        from gateway.app.assembly import assemble
        from gateway.app.lifecycle import drain, running
        from gateway.cli.context import settings_of
        from gateway.runtime.process import as_worker, stop_signals

        settings = settings_of(terminal.config)
        if worker is not None:
            settings = as_worker(settings, worker)
        gateway = assemble(settings, os.environ, with_bank=not worker)
    with stop_signals() as asked:
        async with running(gateway):
            await _welcome(terminal, gateway, settings)
            gateway.telemetry.lag.forget()
            await drain(gateway, await asked)


async def _welcome(terminal: Terminal, gateway: Gateway, settings: Settings) -> None:
    """Print the addresses and, with the embedded bank, the first calls to try."""
    click.echo(f"pixgate listens on http://{settings.server.host}:{gateway.public.port}")
    click.echo(f"operations    on http://{settings.admin.host}:{gateway.operations.port}")
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
        click.echo(line)


async def _bank(terminal: Terminal, gateway: str, **wanted: Unpack[Wanted]) -> None:
    """Run the bank until it is told to stop."""
    from gateway.cli.config.callbacks import told
    from gateway.domain.accounts.accounts import Environment
    from gateway.runtime.process import stop_signals, wall_clock
    from provider_adapters.sandbox.simulator.dialect import SandboxBank

    bank = SandboxBank(
        db_path=str(wanted["db"]),
        port=wanted["port"],
        control_port=wanted["control_port"],
        settle_after_s=wanted["settle_after"],
        now=wall_clock(Environment.SANDBOX, os.environ),
        listener=told(terminal.config, gateway) if gateway else None,
    )
    with stop_signals() as asked:
        await bank.start()
        click.echo(f"sandbox bank on http://{bank.host}:{bank.port}")
        click.echo(f"its control  on http://{bank.host}:{bank.control_port}")
        await asked
        await bank.close()
