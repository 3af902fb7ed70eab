"""``pixgate keys status``, ``stage`` and ``promote``: replacing a configured key in two phases."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gateway.cli.console import Row, Terminal, reading, show_json
from gateway.core.key_rotation import PURPOSES, key_ids, next_step, without_key

if TYPE_CHECKING:
    from gateway.core.key_rotation import LiveProcess

DIFFERS: Final = 3
"""The exit status of processes with different keys; 1 is an error, 2 a wrong option."""
_COLUMNS: Final = ("process", "purpose", "writes_with", "also_has")
_purpose = click.argument("purpose", type=click.Choice(tuple(PURPOSES)))


@click.command("status")
@reading
def status(terminal: Terminal) -> None:
    """
    Compare the configured keys of all live processes. Exit status 0: the same; 3: not.

    Keys are shown by their ids, which reveal nothing about them. This command's
    own configuration is compared too: commands write with its keys.
    """
    alive = asyncio.run(_alive(terminal))
    used = [name for name in PURPOSES if any(any(key_ids(each, name)) for each in alive)]
    rows = [_row(each, name) for each in alive for name in used]
    steps = {name: next_step(name, alive) for name in used}
    agreed = all(each.agreed for each in steps.values())
    if terminal.as_json:
        texts = {name: each.text for name, each in steps.items()}
        show_json({"agreed": agreed, "processes": rows, "next": texts})
    else:
        terminal.show_all(rows, _COLUMNS)
        for name, step in steps.items():
            click.echo(f"{name}: {step.text}")
    if not agreed:
        click.get_current_context().exit(DIFFERS)


@click.command("stage")
@_purpose
@click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Takes the new key, mode 0600; it must not exist.",
)
@reading
def stage(terminal: Terminal, purpose: str, file: Path) -> None:
    """
    Make the next key, for phase 1: every process has it, none writes with it.

    Refused while live processes have different keys.
    """
    step = next_step(purpose, asyncio.run(_alive(terminal)))
    if not step.agreed:
        message = f"finish the change under way first. {step.text}"
        raise click.ClickException(message)
    key_id = _written(purpose, file)
    terminal.show(
        {
            "purpose": purpose,
            "id": key_id,
            "file": str(file),
            "next": f"Add the content of the file to {PURPOSES[purpose].others} under a label of "
            "yours, in every configuration that commands and processes use, restart one process "
            f"after the other, then: pixgate keys promote {purpose} {key_id}",
        }
    )


@click.command("promote")
@_purpose
@click.argument("key_id", metavar="ID")
@reading
def promote(terminal: Terminal, purpose: str, key_id: str) -> None:
    """
    Check that every live process has a key, and print how to write with it: phase 2.

    Refused, with the names of the processes, while one of them lacks it.
    """
    alive, place = asyncio.run(_alive(terminal)), PURPOSES[purpose]
    if lacking := without_key(purpose, key_id, alive):
        names = ", ".join(each.name for each in lacking)
        message = f"{key_id} is missing in {names}: add it there to {place.others} and restart"
        raise click.ClickException(message)
    waiting = [each.name for each in alive if key_ids(each, purpose)[0] != key_id]
    swap = (
        f"Make the key {place.setting} and move the present one to {place.others} under a label of "
        "yours, in every configuration, and restart one process after the other."
    )
    step = swap if waiting else f"Nothing: every process writes with {key_id}."
    not_yet = waiting if terminal.as_json else ", ".join(waiting)
    terminal.show({"purpose": purpose, "id": key_id, "not_yet": not_yet, "next": step})


def _row(process: LiveProcess, purpose: str) -> Row:
    current, *others = key_ids(process, purpose)
    return {
        "process": process.name,
        "purpose": purpose,
        "writes_with": current,
        "also_has": sorted(others),
    }


def _written(purpose: str, file: Path) -> str:
    """Write a new key to its own file; return its id."""
    from gateway.config.checks import LEAST_KEY_BYTES
    from gateway.security.keys import key_id

    text = base64.b64encode(os.urandom(LEAST_KEY_BYTES)).decode()
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(f"{text}\n")
    except OSError as problem:
        message = f"{file} cannot be made: {problem.strerror}"
        raise click.ClickException(message) from problem
    return key_id(purpose, text)


async def _alive(terminal: Terminal) -> Sequence[LiveProcess]:
    """Return the live processes, and this command as the last one."""
    from gateway.app.commands.store import opened_store, this_command
    from gateway.cli.configuration import keys_of, settings_of
    from gateway.process.process import wall_clock

    settings = settings_of(terminal.config)
    keys, now = keys_of(settings), wall_clock(settings.environment, os.environ)
    async with opened_store(settings, migrate=settings.migrates) as store:
        return [*await store.processes.alive(now()), this_command(keys)]
