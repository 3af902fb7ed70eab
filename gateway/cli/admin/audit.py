"""``pixgate audit``: whether the audit log is intact, and where it ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gateway.cli.console import Row, Terminal, reading, run, show_json
from gateway.domain.kernel.audit import AuditHead

if TYPE_CHECKING:
    from gateway.domain.kernel.audit import Audit

BROKEN: Final = 3
"""The exit status of a broken log; 1 is a log that could not be read, 2 a wrong option."""

_LEAST_HASH: Final = 6
"""Bytes of its hash that a kept head needs: as many as ``/metrics`` shows."""


@click.group("audit")
def audit() -> None:
    """Verify the audit log, which is sealed with a key outside the store."""


@audit.command()
@click.option(
    "--head",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="An earlier end of the log, as `pixgate audit head` printed it.",
)
@reading
def verify(terminal: Terminal, file: Path | None) -> None:
    """
    Verify the whole log. Exit status 0: intact; 3: broken; 1: it could not be read.

    Finds events that were changed, added or removed, and an end that was moved.
    A store that was restored from an old backup is found with --head: an end
    that was kept elsewhere, as JSON with number and hash, or a file whose last
    line is such JSON: an audit_head line of the service's log, or an export.
    """
    kept = None if file is None else kept_head(file)

    async def work() -> Row:
        async with _opened(terminal) as log:
            try:
                return {"whole": True, "events": await log.verify(kept), "problem": ""}
            except ValueError as problem:
                return {"whole": False, "events": 0, "problem": str(problem)}

    found = run(work())
    terminal.show(found)
    if not found["whole"]:
        click.get_current_context().exit(BROKEN)


@audit.command()
@reading
def head(terminal: Terminal) -> None:
    """Print the end of the log as JSON, to be kept elsewhere. Exit status 3: wrong seal."""

    async def work() -> Row:
        async with _opened(terminal) as log:
            try:
                end = await log.head()
            except ValueError as problem:
                return {"problem": str(problem)}
            return {"number": end.number, "hash": end.hash.hex(), "key_id": end.key_id}

    found = run(work())
    show_json(found)
    if "problem" in found:
        click.get_current_context().exit(BROKEN)


def kept_head(file: Path) -> AuditHead:
    """
    Read a head that was kept elsewhere; of its hash the first six bytes will do.

    Raises:
        ClickException: the file cannot be read, or holds none.
    """
    try:
        text = file.read_text(encoding="utf-8").strip()
        found = _document(text)
        of_log = "audit_" if "audit_number" in found else ""
        number, digest = found[f"{of_log}number"], bytes.fromhex(found[f"{of_log}hash"])
    except OSError as problem:
        message = f"{file} cannot be read: {problem.strerror}"
        raise click.ClickException(message) from problem
    except (ValueError, KeyError, TypeError, IndexError) as problem:
        message = f"{file} holds no head: JSON with number and hash"
        raise click.ClickException(message) from problem
    if not (isinstance(number, int) and number >= 0 and len(digest) >= _LEAST_HASH):
        message = f"{file} holds no head: a number, and at least {_LEAST_HASH} bytes of its hash"
        raise click.ClickException(message)
    return AuditHead(number, digest)


def _document(text: str) -> Any:  # noqa: ANN401 - JSON of somebody else's
    """Read JSON, or the last line of several."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.splitlines()[-1])


@asynccontextmanager
async def _opened(terminal: Terminal) -> AsyncIterator[Audit]:
    """Open the log as it is; unlike other commands, this one seals nothing."""
    from gateway.cli.configuration import settings_of
    from gateway.cli.context import keys_of, opened_store

    settings = settings_of(terminal.config)
    keys = keys_of(settings)
    async with opened_store(settings, migrate=settings.migrates, keys=keys) as store:
        yield store.audit
