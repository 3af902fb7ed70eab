"""``pixgate cells``: the map that HAProxy routes by, and companies that move between cells."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Final

import click

from gateway.cli.console import Terminal, across_cells, changing_cells
from gateway.cli.options import DURATION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from datetime import timedelta

    from gateway.app.commands.opened_cells import OpenedCell
    from gateway.cells.moving import Step
    from gateway.cells.routing import Claims

_COLUMNS: Final = ("step", "what")
IMPATIENT: Final = 3
"""The exit status while payouts are under way still."""


@click.group("cells")
def cells() -> None:
    """Cells: whole stacks with companies of their own, behind one HAProxy."""


@cells.command("map")
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 if it would change.")
@across_cells
def write_map(terminal: Terminal, *, check: bool) -> None:
    """
    Write HAProxy's map from credentials, accounts, callbacks and host names to cells.

    Safe to repeat at any time. Nothing is written where two cells claim one of them.
    """
    from gateway.app.commands.opened_cells import READING, opened_cells
    from gateway.cells.model import read_cells
    from gateway.cells.writer import MapWriter

    known = read_cells(terminal.config)

    async def work() -> int:
        async with opened_cells(known, READING) as opened:
            with MapWriter(known, lambda: _claims(opened)) as writer:
                return await writer.compare() if check else len(await writer.write())

    entries = asyncio.run(work())
    if check:
        terminal.show({"map": str(known.map), "different": entries})
        if entries:
            raise click.exceptions.Exit(1)
        return
    in_force = "now" if known.sockets else "after a reload of HAProxy"
    terminal.show({"map": str(known.map), "entries": entries, "in_force": in_force})


@cells.command("move")
@click.argument("company")
@click.option("--from", "source", required=True, help="The cell that the company is in.")
@click.option("--to", "target", required=True, help="The cell that it moves to.")
@click.option("--plan", "only_plan", is_flag=True, help="Print what would be done, and end.")
@click.option(
    "--patience",
    type=DURATION,
    default="15m",
    show_default=True,
    help="How long to wait until no payout is under way; then exit status 3.",
)
@changing_cells
def move(
    terminal: Terminal,
    /,
    *,
    company: str,
    only_plan: bool,
    patience: timedelta,
    **cell: str,
) -> None:
    """
    Move a company from one cell to another, while others pay.

    Its payouts are stopped meanwhile, and its reads go on. After a failure of whatever kind repeat
    the command: it goes on where it was.
    """
    from gateway.app.commands.opened_cells import MOVING, opened_cells
    from gateway.app.failpoints import armed
    from gateway.app.kept_records import STOPS_BELIEVED_S
    from gateway.cells.model import read_cells
    from gateway.cells.moving import Move, PatienceOver
    from gateway.cells.writer import MapWriter
    from gateway.core.audit_context import identifier
    from gateway.net.common.runtime import unarmed

    known, company = read_cells(terminal.config), identifier(company, "company")
    names = known.named(cell["source"]), known.named(cell["target"])

    async def work() -> Sequence[Step]:
        async with opened_cells(known, MOVING) as opened:
            with MapWriter(known, lambda: _claims(opened)) as writer:
                here, there = [await opened[name].side(terminal) for name in names]
                moving = Move(
                    company=company,
                    source=here,
                    target=there,
                    others={
                        name: each.kernel.store.database
                        for name, each in opened.items()
                        if name not in names
                    },
                    hold=writer.hold,
                    switch=writer.write,
                    say=lambda step: click.echo(f"{step.step:<8} {step.what}", err=True),
                    wait=_waiting(patience),
                    settle=lambda: asyncio.sleep(STOPS_BELIEVED_S),
                    passed=armed(here.environment, os.environ) or unarmed,
                )
                return await (moving.plan() if only_plan else moving.run())

    try:
        steps = asyncio.run(work())
    except PatienceOver as over:
        click.echo("payouts are under way still, and stay stopped: repeat", err=True)
        raise click.exceptions.Exit(IMPATIENT) from over
    terminal.show_all([{"step": each.step, "what": each.what} for each in steps], _COLUMNS)


def _waiting(patience: timedelta) -> Callable[[], Awaitable[None]]:
    """Return what waits a second, until the patience is over."""
    from gateway.cells.moving import PatienceOver

    until = time.monotonic() + patience.total_seconds()

    async def wait() -> None:
        if time.monotonic() > until:
            raise PatienceOver
        await asyncio.sleep(1)

    return wait


async def _claims(opened: Mapping[str, OpenedCell]) -> Sequence[Claims]:
    return [await each.claims() for each in opened.values()]
