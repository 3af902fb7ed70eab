"""``pixgate demo``: companies, accounts, credentials and charges to try everything with."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Terminal, reading, show_json
from provider_adapters.testing import simulators

if TYPE_CHECKING:
    from provider_adapters.testing.demo.ensure import Demo


@click.group("demo", invoke_without_command=True)
@click.option(
    "--bank",
    type=click.Choice(simulators.names()),
    help="Attach a new account at this simulated bank instead.",
)
@click.option(
    "--configure",
    is_flag=True,
    help="With --bank: write a provider for it into the configuration file.",
)
@click.pass_context
@reading
def demo(terminal: Terminal, context: click.Context, bank: str | None, *, configure: bool) -> None:
    """
    Create the demo, or find it, and print it. Its ids and secrets stay the same.

    Needs the sandbox bank: `pixgate serve` or `pixgate bank sandbox` runs it.

    With --bank: opens an account at a simulated bank that `pixgate bank` runs, and
    attaches it to a company of its own, with a credential. The bank is told where
    its callbacks go. The configuration needs a provider for the bank; where it has
    none, the lines to add are printed, or written by --configure. The gateway knows
    them when it is started again.
    """
    if context.invoked_subcommand is not None:
        return
    if bank is not None:
        terminal.show(asyncio.run(_attached(terminal, bank, configure=configure)))
        return
    made, today = asyncio.run(_made(terminal))
    if terminal.as_json:
        show_json(made)
        return
    for line in summary(made, today):
        click.echo(line)


@demo.command("totp")
@click.argument("email")
@reading
def totp(terminal: Terminal, email: str) -> None:
    """Print the code that a demo user's authenticator app shows now."""
    click.echo(asyncio.run(_code(terminal, email)))


def summary(made: Demo, today: date) -> Sequence[str]:
    """Describe the demo, and the first ten calls; ``today`` is in UTC."""
    from provider_adapters.testing.demo.ensure import curl_lines

    users = made["users"].values()
    return [
        f"gateway     {made['base_url']}",
        f"operations  {made['ops_url']}",
        f"bank        {made['sandbox_bank_url']}, control {made['sandbox_control_url']}",
        *(f"account     {thing['id']}  {role}" for role, thing in made["accounts"].items()),
        *(f"charge      {reference}  {role}" for role, reference in made["charges"].items()),
        *(f"user        {one['email']}  password {one['password']}" for one in users),
        "credentials: see `pixgate demo --json`; `limited` has limits per payout, day and night",
        "",
        *(f"{line}\n" for line in curl_lines(made, today)),
    ]


async def _attached(terminal: Terminal, bank: str, *, configure: bool) -> Mapping[str, object]:
    from gateway.app.commands.context import opened
    from gateway.cli.configuration import sandbox_only, settings_of
    from provider_adapters.testing.commands.demo_bank import attach, provider_for

    sandbox_only(settings_of(terminal.config))
    provider = provider_for(terminal.config, bank, configure=configure)
    async with opened(terminal) as office:
        return await attach(office, bank, provider)


async def _made(terminal: Terminal) -> tuple[Demo, date]:
    from gateway.app.commands.context import opened
    from provider_adapters.testing.demo.ensure import made_demo

    async with opened(terminal) as office:
        return await made_demo(office), office.acting.now().date()


async def _code(terminal: Terminal, email: str) -> str:
    """Return the current code; RuleViolation when no user of that address has an app."""
    from gateway.cli.configuration import sandbox_only, settings_of
    from gateway.core.audit_context import RuleViolation
    from gateway.identity.one_time_codes import code_at
    from gateway.process.process import wall_clock
    from provider_adapters.testing.demo.ensure import demo_file

    settings = settings_of(terminal.config)
    sandbox_only(settings)
    made = demo_file(settings).read()
    for user in made["users"].values() if made else ():
        if user["email"] == email and "totp_secret" in user:
            return code_at(user["totp_secret"], wall_clock(settings.environment, os.environ)())
    message = f"no demo user {email} with an authenticator app: `pixgate demo` lists the users"
    raise RuleViolation(message)
