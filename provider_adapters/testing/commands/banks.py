"""``pixgate bank``: simulated banks in a process of their own."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

import click
import msgspec

from gateway.cli.console import Terminal, reading
from gateway.cli.serve.commands import run_on_uvloop
from gateway.domain.accounts.accounts import Environment
from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing import simulators

if TYPE_CHECKING:
    from provider_adapters.testing.bank.server import SimulatedBank
    from provider_adapters.testing.bank.simulator import BankAddress

FOLDER: Final = "banks"
"""Below ``var``: the banks' files, and where each that runs is reached."""

_PORT = click.IntRange(0, 65535)


class Wanted(TypedDict):
    """The options of simulated banks; None is what their place in the list says."""

    first_port: int
    port: int | None
    control_port: int | None
    token_port: int | None
    folder: Path | None
    settle_after: float
    latency: float


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
@click.option("--port", type=_PORT, help="Of a single bank.")
@click.option("--control-port", type=_PORT, help="Of a single bank.")
@click.option(
    "--token-port", type=_PORT, help="Of a single bank that gives tokens at another address."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="The banks' files.  [default: banks in the folder var]",
)
@click.option(
    "--settle-after",
    type=float,
    default=0.3,
    show_default=True,
    help="Seconds until a payout is settled.",
)
@click.option(
    "--latency",
    type=click.FloatRange(0, 60),
    default=0.0,
    show_default=True,
    help="Seconds that every call of a customer waits first.",
)
@reading
def bank(terminal: Terminal, names: tuple[str, ...], **wanted: Unpack[Wanted]) -> None:
    """
    Run simulated banks, on loopback; without a NAME, all of them.

    Each prints its address and that of its control interface.
    `pixgate demo --bank NAME` attaches an account of one to the gateway.
    """
    own = (wanted["port"], wanted["control_port"], wanted["token_port"])
    if own != (None, None, None) and len(names) != 1:
        message = "--port, --control-port and --token-port are for a single bank"
        raise click.UsageError(message)
    run_on_uvloop(_run(terminal, names or simulators.names(), wanted))


@dataclass(frozen=True, slots=True)
class BankFolder:
    """Where simulated banks keep their files, and tell where they are reached."""

    path: Path

    def database(self, name: str) -> str:
        """Return a bank's file."""
        return str(self.path / f"{name}.db")

    def tell(self, name: str, address: BankAddress) -> None:
        """Say where a bank is reached."""
        self._address(name).write_bytes(msgspec.json.encode(address))

    def forget(self, name: str) -> None:
        """Say that it is not any more."""
        self._address(name).unlink(missing_ok=True)

    def address(self, name: str) -> BankAddress:
        """
        Return where a bank is reached.

        Raises:
            RuleViolation: it does not run.
        """
        from provider_adapters.testing.bank.simulator import BankAddress

        with suppress(OSError, msgspec.DecodeError):
            return msgspec.json.decode(self._address(name).read_bytes(), type=BankAddress)
        message = f"the simulated bank {name} does not run: start it with `pixgate bank {name}`"
        raise RuleViolation(message)

    def _address(self, name: str) -> Path:
        return self.path / f"{name}.json"


async def _run(terminal: Terminal, names: tuple[str, ...], wanted: Wanted) -> None:
    """Run banks until told to stop."""
    from gateway.cli.configuration import sandbox_only, settings_of
    from gateway.runtime.process import stop_signals

    settings = settings_of(terminal.config)
    sandbox_only(settings)
    folder = BankFolder(wanted["folder"] or settings.folder / FOLDER)
    folder.path.mkdir(parents=True, exist_ok=True)
    with stop_signals() as asked:
        async with AsyncExitStack() as running:
            for name in names:
                made = _made(name, folder, wanted)
                await made.start()
                running.push_async_callback(made.close)
                address = address_of(made)
                folder.tell(name, address)
                running.callback(folder.forget, name)
                _show(terminal, name, address)
            await asked


def _made(name: str, folder: BankFolder, wanted: Wanted) -> SimulatedBank:
    """Make a bank at its place, or where it was wanted."""
    from gateway.runtime.process import wall_clock
    from provider_adapters.testing.bank.server import SimulatedBank

    port, control = simulators.ports(name, wanted["first_port"])
    token = simulators.token_port(name, wanted["first_port"])
    return SimulatedBank(
        dialect=simulators.find(name).dialect,
        db_path=folder.database(name),
        port=port if wanted["port"] is None else wanted["port"],
        control_port=control if wanted["control_port"] is None else wanted["control_port"],
        token_port=token if wanted["token_port"] is None else wanted["token_port"],
        settle_after_s=wanted["settle_after"],
        latency_s=wanted["latency"],
        now=wall_clock(Environment.SANDBOX, os.environ),
    )


def address_of(made: SimulatedBank) -> BankAddress:
    """Return where a bank that has been started is reached."""
    from provider_adapters.testing.bank.simulator import BankAddress

    return BankAddress(
        url=made.url,
        control_url=made.control_url,
        token_url=made.token_url,
        authority_file=str(made.authority_file.resolve()) if made.authority_file else "",
    )


def _show(terminal: Terminal, name: str, address: BankAddress) -> None:
    """Print a line for a bank."""
    if terminal.as_json:
        click.echo(msgspec.json.encode({"bank": name, **msgspec.to_builtins(address)}).decode())
        return
    trusted = f"  verified with {address.authority_file}" if address.authority_file else ""
    tokens = f"  tokens {address.token_url}" if address.token_url != address.url else ""
    click.echo(f"{name:<10}  {address.url}  control {address.control_url}{tokens}{trusted}")
