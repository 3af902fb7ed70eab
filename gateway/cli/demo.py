"""``pixgate demo``: companies, accounts, credentials and charges to try everything with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import click

from gateway.cli.console import Terminal, reading, run, show_json
from gateway.operations.demo.curls import curl_lines
from gateway.operations.demo.document import Demo


@click.command("demo")
@reading
def demo(terminal: Terminal) -> None:
    """
    Make the demo once, and print it; the same ids and secrets every time.

    Needs the sandbox bank: `pixgate serve` or `pixgate sandbox-bank` runs it.
    """
    made, today = run(_made(terminal))
    if terminal.as_json:
        show_json(made)
        return
    for line in summary(made, today):
        click.echo(line)


def summary(made: Demo, today: date) -> Sequence[str]:
    """Say what there is, and how the first ten calls are made; ``today`` is in UTC."""
    return [
        f"gateway     {made['base_url']}",
        f"operations  {made['ops_url']}",
        f"bank        {made['sandbox_bank_url']}, control {made['sandbox_control_url']}",
        *(f"account     {thing['id']}  {role}" for role, thing in made["accounts"].items()),
        *(f"charge      {reference}  {role}" for role, reference in made["charges"].items()),
        "credentials: see `pixgate demo --json`",
        "",
        *(f"{line}\n" for line in curl_lines(made, today)),
    ]


async def _made(terminal: Terminal) -> tuple[Demo, date]:
    from gateway.cli.demo_making import made_demo
    from gateway.cli.opening import opened

    async with opened(terminal) as office:
        return await made_demo(office), office.acting.now().date()
