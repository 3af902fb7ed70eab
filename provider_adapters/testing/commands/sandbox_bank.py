"""``pixgate sandbox-bank``: the sandbox bank in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack
from urllib.parse import urlsplit

import click

from gateway.cli.console import Terminal, reading
from gateway.cli.serve.commands import run_on_uvloop
from gateway.operations.kernel.audit_context import RuleViolation

if TYPE_CHECKING:
    from gateway.config.settings import Settings


class Wanted(TypedDict):
    """Options in the place of settings of ``sandbox_bank``; None takes the setting."""

    port: int | None
    control_port: int | None
    file: str | None
    settle_after_s: float | None


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
    run_on_uvloop(_run(terminal, gateway, **wanted))


async def _run(terminal: Terminal, gateway: str, **wanted: Unpack[Wanted]) -> None:
    """Run the bank until it is told to stop."""
    from msgspec.structs import replace

    from gateway.cli.configuration import sandbox_only, settings_of
    from gateway.cli.context import keys_of
    from gateway.domain.accounts.accounts import Environment
    from gateway.runtime.process import stop_signals, wall_clock
    from provider_adapters.testing.embedded import make_bank

    settings = settings_of(terminal.config)
    sandbox_only(settings)
    given = {name: value for name, value in wanted.items() if value is not None}
    bank = make_bank(
        replace(settings, sandbox_bank=replace(settings.sandbox_bank, **given)),
        keys_of(settings).derivation,
        wall_clock(Environment.SANDBOX, os.environ),
        told_gateway(terminal.config, settings, gateway) if gateway else None,
    )
    with stop_signals() as asked:
        await bank.start()
        click.echo(f"sandbox bank on {bank.url}")
        click.echo(f"its control  on {bank.control_url}")
        await asked
        await bank.close()


def told_gateway(config: Path, settings: Settings, gateway: str) -> Callable[[], str]:
    """
    Return the address of the gateway that is told of what happens, as ``make_bank`` takes it.

    Args:
        config: The gateway's configuration file.
        settings: What it says.
        gateway: The gateway's address, ``http://host:port``.

    Raises:
        RuleViolation: that is no address; or the configuration names no provider of the
            sandbox bank.
    """
    base = _base(gateway)
    if all(each.adapter != "sandbox" for each in settings.providers.values()):
        message = f"{config} names no provider of the adapter sandbox"
        raise RuleViolation(message)
    return lambda: base


def _base(gateway: str) -> str:
    """Read an address without a path."""
    try:
        address = urlsplit(gateway)
        known = address.scheme in {"http", "https"} and address.hostname and address.port != 0
    except ValueError:  # a port that is none
        known = False
    if not known or gateway.rstrip("/") != f"{address.scheme}://{address.netloc}":
        message = f"{gateway!r} is no address of a gateway, such as http://127.0.0.1:8080"
        raise RuleViolation(message)
    return gateway.rstrip("/")
