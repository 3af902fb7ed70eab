"""``pixgate audit``: verifies the audit log and prints its head."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading, show_json
from gateway.cli.context import CommandContext, in_store
from gateway.core.audit import AuditHead

if TYPE_CHECKING:
    from gateway.audit.breaks import AuditBreaks
    from gateway.audit.store import StoredAudit

Result = TypeVar("Result")

BROKEN: Final = 3
"""The exit status of a broken log; 1 is a log that could not be read, 2 a wrong option."""

_LEAST_HASH: Final = 6
"""Bytes of its hash that a kept head needs: as many as ``/metrics`` shows."""

_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_EXCEPT: Final = (
    "whole, but for the break accepted at event {number} by {proposed_by} and {approved_by} "
    "on {at}, events {first} to {last} ({problem}): {reason}"
)


@click.group("audit")
def audit() -> None:
    """Verify the audit log, which is sealed with a key outside the store."""


@audit.command()
@click.option(
    "--head",
    "file",
    type=_FILE,
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

    A log with accepted breaks is intact but for these, which are named each time.
    """
    kept = None if file is None else kept_head(file)

    async def verified(log: StoredAudit) -> dict[str, Any]:
        try:
            events, accepted = await log.verify(kept), await log.accepted()
        except ValueError as problem:
            return {"whole": False, "events": 0, "problem": str(problem), "accepted": []}
        breaks = [
            {
                **fields_of(each.found, "first", "last", "problem"),
                **fields_of(each, "number", "at", "proposed_by", "approved_by", "reason"),
            }
            for each in accepted
        ]
        return {"whole": True, "events": events, "problem": "", "accepted": breaks}

    found = _as_it_is(terminal, verified)
    if terminal.as_json:
        show_json(found)
    else:
        terminal.show({**found, "accepted": len(found["accepted"]) or ""})
        for each in found["accepted"]:
            click.echo(_EXCEPT.format(**each))
    if not found["whole"]:
        click.get_current_context().exit(BROKEN)


@audit.command()
@reading
def head(terminal: Terminal) -> None:
    """Print the end of the log as JSON, to be kept elsewhere. Exit status 3: wrong seal."""

    async def ended(log: StoredAudit) -> Row:
        try:
            end = await log.head()
        except ValueError as problem:
            return {"problem": str(problem)}
        return {"number": end.number, "hash": end.hash.hex(), "key_id": end.key_id}

    found = _as_it_is(terminal, ended)
    show_json(found)
    if "problem" in found:
        click.get_current_context().exit(BROKEN)


@audit.command("accept-break")
@click.argument("event", type=click.IntRange(0))
@click.option("--propose", "proposed", type=_FILE, help="Takes the proposal; it must not exist.")
@click.option("--approve", "approved", type=_FILE, help="The proposal of another person.")
@click.option("--reason", default="", help="With --propose: for the auditors.")
@changing
def accept_break(
    terminal: Terminal, event: int, proposed: Path | None, approved: Path | None, reason: str
) -> None:
    """
    Accept the break at EVENT, the event that `pixgate audit verify` names.

    For events that cannot be proven any more: their key is lost for good, or the
    database was restored in part. One person proposes and gives the file to
    another one, who approves. Each is named by --by with the e-mail address of an
    active user who is security or admin for all companies. From then on the log
    is whole but for these events, exactly as they are stored now.
    """
    if (proposed is None) == (approved is None) or bool(proposed) != bool(reason):
        message = "give --propose FILE with --reason, or --approve FILE"
        raise click.UsageError(message)
    if not terminal.by:
        message = "--by is required: the two must be different people"
        raise click.UsageError(message)

    try:
        if approved is not None:
            given = approved.read_text(encoding="utf-8")
            found = in_store(terminal, lambda it: _breaks(it).approve(event, terminal.by, given))
            terminal.show({"accepted": True, "first": found.first, "last": found.last})
        elif proposed is not None:
            proposal = in_store(
                terminal, lambda office: _breaks(office).propose(event, terminal.by, reason)
            )
            with proposed.open("x", encoding="utf-8") as file:
                file.write(f"{proposal}\n")
            terminal.show({"accepted": False, "proposal": str(proposed)})
    except OSError as problem:
        message = f"{problem.filename}: {problem.strerror}"
        raise click.ClickException(message) from problem


def kept_head(file: Path) -> AuditHead:
    """
    Read an externally stored head; the first six bytes of its hash suffice.

    Raises:
        ClickException: the file cannot be read, or holds no head.
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
    """Parse JSON, or the last line of several."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text.splitlines()[-1])


def _breaks(office: CommandContext) -> AuditBreaks:
    from gateway.audit.breaks import AuditBreaks

    return office.service(AuditBreaks)


def _as_it_is(terminal: Terminal, look: Callable[[StoredAudit], Awaitable[Result]]) -> Result:
    """Open the log for reading; keys that do not fit are a finding here."""
    from gateway.audit.store import StoredAudit

    return in_store(terminal, lambda office: look(office.service(StoredAudit)), any_keys=True)
