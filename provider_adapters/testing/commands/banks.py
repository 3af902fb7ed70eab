"""``pixgate bank``: simulated banks in a process of their own."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from gateway.app.commands.serve import run_on_uvloop
from gateway.cli.console import Terminal, reading
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from provider_adapters.testing import simulators

if TYPE_CHECKING:
    from provider_adapters.testing.bank.dialect import BankAddress
    from provider_adapters.testing.bank.server import SimulatedBank

FOLDER: Final = "banks"
"""Below ``var``: the banks' files, and the address of each that runs."""


@click.command("bank")
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice(simulators.names()))
@click.option(
    "--first-port",
    type=click.IntRange(0, 65000),
    envvar="PIXGATE_BANKS_PORT",
    default=8100,
    show_default=True,
    help="First port; each bank takes two. Banks with a separate token address use one more,"
    " from 100 ports higher. 0 takes free ones.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="The banks' files.  [default: banks in the folder var]",
)
@reading
def bank(
    terminal: Terminal, names: tuple[str, ...], *, first_port: int, folder: Path | None
) -> None:
    """
    Run simulated banks, on loopback; without a NAME, all of them.

    Each prints its address and that of its control interface.
    `pixgate demo --bank NAME` attaches an account of one to the gateway.

    `pixgate bank sandbox --first-port 8090` runs the sandbox bank where a gateway with
    `sandbox_bank.start: false` expects it.
    """

    async def work() -> None:
        from gateway.cli.configuration import sandbox_only, settings_of
        from gateway.process.process import stop_signals, wall_clock
        from provider_adapters.testing.bank.server import SimulatedBank

        settings = settings_of(terminal.config)
        sandbox_only(settings)
        files = folder or settings.folder / FOLDER
        files.mkdir(parents=True, exist_ok=True)
        with stop_signals() as asked:
            async with AsyncExitStack() as running:
                for name in names or simulators.names():
                    port, control_port, token_port = simulators.ports(name, first_port)
                    made = SimulatedBank(
                        dialect=simulators.find(name).dialect,
                        db_path=str(files / f"{name}.db"),
                        port=port,
                        control_port=control_port,
                        token_port=token_port,
                        now=wall_clock(Environment.SANDBOX, os.environ),
                    )
                    await made.start()
                    running.push_async_callback(made.close)
                    file = files / f"{name}.json"
                    file.write_bytes(msgspec.json.encode(address_of(made)))
                    running.callback(file.unlink, missing_ok=True)
                    _show(terminal, name, address_of(made))
                await asked

    run_on_uvloop(work())


def address_of(made: SimulatedBank) -> BankAddress:
    """Return the address of a bank that has been started."""
    from provider_adapters.testing.bank.dialect import BankAddress

    return BankAddress(
        url=made.url,
        control_url=made.control_url,
        token_url=made.token_url,
        authority_file=str(made.authority_file.resolve()) if made.authority_file else "",
    )


def running_bank(folder: Path, name: str) -> BankAddress:
    """Return the address of a bank by its folder; RuleViolation if the bank does not run."""
    from provider_adapters.testing.bank.dialect import BankAddress

    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / f"{name}.json").read_bytes(), type=BankAddress)
    message = f"the simulated bank {name} does not run: start it with `pixgate bank {name}`"
    raise RuleViolation(message)


def _show(terminal: Terminal, name: str, address: BankAddress) -> None:
    if terminal.as_json:
        click.echo(msgspec.json.encode({"bank": name, **msgspec.to_builtins(address)}).decode())
        return
    trusted = f"  verified with {address.authority_file}" if address.authority_file else ""
    tokens = f"  tokens {address.token_url}" if address.token_url != address.url else ""
    click.echo(f"{name:<10}  {address.url}  control {address.control_url}{tokens}{trusted}")
