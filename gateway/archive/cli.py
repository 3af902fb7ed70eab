"""``pixgate payouts archive``: old payouts leave the database for files."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.archive.folder import ArchiveFolder
from gateway.archive.model import ArchiveFile, Planned
from gateway.cli.console import Row, Terminal, changing, reading, show_json
from gateway.cli.context import CommandContext, in_store
from gateway.core.audit_context import RuleViolation
from gateway.core.money import Money

if TYPE_CHECKING:
    from gateway.archive.service import Archive

PLANNED = ("step", "account_id", "month", "payouts", "value")
WRITTEN = ("file", "payouts", "value", "sha256")
FAULTS = ("file", "fault")
_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
_old = click.argument(
    "folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True)
)


@click.group()
def archive() -> None:
    """Move payouts that ended long ago from the database to files, and read them there."""


@archive.command()
@_folder
@click.option("--plan", "only_plan", is_flag=True, help="Print what would be done, and end.")
@changing
def write(terminal: Terminal, folder: Path, *, only_plan: bool) -> None:
    """
    Write payouts older than payouts.keep_months to files in DIR, and delete them.

    Each file is read back and compared with the database before anything is deleted. After a
    failure of whatever kind repeat the command: it goes on where it was.
    """

    def plan(office: CommandContext) -> Awaitable[Sequence[Planned]]:
        return _archive(office).plan(office.staff)

    def run(office: CommandContext) -> Awaitable[Sequence[ArchiveFile]]:
        return _archive(office).write(office.staff, ArchiveFolder(folder), _say)

    if only_plan:
        terminal.show_all([_planned(each) for each in in_store(terminal, plan)], PLANNED)
    else:
        terminal.show_all([_written(each) for each in in_store(terminal, run)], WRITTEN)


@archive.command()
@_old
@click.option("--offline", is_flag=True, help="Do not ask the database which files there are.")
@reading
def verify(terminal: Terminal, folder: Path, *, offline: bool) -> None:
    """
    Compare every file in DIR with its manifest. Exit status 1: there is a fault.

    Reads each file to its end: digest, number of payouts, their sum, their account and month. The
    database says which files there must be.
    """
    from gateway.archive.reading import faults, unlike  # noqa: PLC0415 - loads SQLAlchemy

    files = ArchiveFolder(folder)
    found = list(faults(files))
    if not offline:
        noted = in_store(terminal, lambda office: _archive(office).records.files(), any_keys=True)
        found += [each for file in noted if (each := unlike(files, file)) is not None]
    terminal.show_all([{"file": each.file, "fault": each.fault} for each in found], FAULTS)
    if found:
        click.get_current_context().exit(1)


@archive.command()
@_old
@click.argument("name")
@click.option("--account", "account_id", default="", help="A UUID: read only its files.")
@reading
def show(terminal: Terminal, folder: Path, name: str, account_id: str) -> None:
    """
    Show a payout in DIR by its reference, end-to-end id or provider key, with its tries.

    Asks no database. A person's tax number and key are masked, as everywhere; the files have them
    whole.
    """
    del terminal
    from gateway.archive.reading import find  # noqa: PLC0415 - loads SQLAlchemy

    found = list(find(ArchiveFolder(folder), name, account_id))
    if not found:
        message = f"no file in {folder} has a payout {name}"
        raise RuleViolation(message)
    show_json(found)


def _archive(office: CommandContext) -> Archive:
    from gateway.archive.service import Archive  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Archive)


def _say(file: ArchiveFile, stay: int) -> None:
    left = f", of which {stay} stay in the database" if stay else ""
    click.echo(f"{file.name}: {file.payouts} payouts{left}", err=True)


def _planned(each: Planned) -> Row:
    return {
        "step": each.step,
        "account_id": each.account_id,
        "month": f"{each.month:%Y-%m}",
        "payouts": each.payouts,
        "value": str(each.value),
    }


def _written(each: ArchiveFile) -> Row:
    value = str(Money(each.centavos))
    return {"file": each.name, "payouts": each.payouts, "value": value, "sha256": each.sha256}
