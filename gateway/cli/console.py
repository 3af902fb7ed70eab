"""
The kit of every command: options, printing, and errors as one line.

Commands import what they need when they run, so that ``pixgate --help`` costs neither SQLAlchemy
nor an HTTP client.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, cast

import click
from msgspec import UNSET

from gateway.cli.os_user import os_user
from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.schemas import instant
from gateway.core.storage import StoreUnavailable

Options = ParamSpec("Options")
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """
    The user of a command, and the output format.

    Attributes:
        config: The configuration file.
        by: The actor for the audit log; empty is the user of the system.
    """

    config: Path
    as_json: bool
    by: str = ""

    @property
    def actor(self) -> str:
        """Name the actor for the audit log."""
        return self.by or f"cli:{os_user()}"

    def show(self, record: Row) -> None:
        """Print one record: as JSON, or one name and value per line."""
        if self.as_json:
            show_json(record)
            return
        wide = max(map(len, record), default=0)
        for name, value in record.items():
            click.echo(f"{name:<{wide}}  {_word(value)}".rstrip())

    def show_all(self, records: Sequence[Row], columns: Sequence[str]) -> None:
        """Print several records: all fields as JSON, or these columns as a table."""
        if self.as_json:
            show_json(records)
            return
        rows = [[_word(record[column]) for column in columns] for record in records]
        wide = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        for row in (columns, *rows):
            cells = (f"{cell:<{width}}" for cell, width in zip(row, wide, strict=True))
            click.echo("  ".join(cells).rstrip())


def reading(
    command: Callable[Concatenate[Terminal, Options], None],
) -> Callable[Options, None]:
    """
    Give a command ``--config`` and ``--json``, as one ``Terminal``.

    Errors that an operator can fix are printed as one line; the exit status is then 1.
    """
    return _config(_json(_called(command)))


def across_cells(
    command: Callable[Concatenate[Terminal, Options], None],
) -> Callable[Options, None]:
    """As ``reading``, with the file that names the cells in place of one configuration."""
    return _cells(_json(_called(command)))


def _called(command: Callable[Concatenate[Terminal, Options], None]) -> Callable[Options, None]:
    @functools.wraps(command)
    def called(*arguments: Options.args, **options: Options.kwargs) -> None:
        own = {name: options.pop(name) for name in ("config", "as_json", "by") if name in options}
        try:
            command(Terminal(**own), *arguments, **options)  # type: ignore[arg-type]
        except RuleViolation as problem:
            raise click.ClickException(str(problem)) from problem
        except ServiceError as problem:
            raise click.ClickException(problem.detail or problem.error.message) from problem
        except StoreUnavailable as problem:
            message = f"the store does not answer: {problem}"
            raise click.ClickException(message) from problem

    return called


def changing(
    command: Callable[Concatenate[Terminal, Options], None],
) -> Callable[Options, None]:
    """Add ``--by`` to a command that changes something."""
    return _by(reading(command))


def changing_cells(
    command: Callable[Concatenate[Terminal, Options], None],
) -> Callable[Options, None]:
    """Add ``--by`` to a command that changes several cells."""
    return _by(across_cells(command))


def show_json(document: object) -> None:
    """Print a JSON document, newline included, in one write: a log line may come next."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def fields_of(record: object, *names: str) -> Row:
    """Return fields of a record unchanged; instants as ``instant`` writes them."""
    return {name: _shown(name, getattr(record, name)) for name in names}


def _shown(name: str, value: object) -> object:
    is_instant = isinstance(value, datetime) or (value is None and name.endswith(("_at", "_until")))
    if value is UNSET:
        return None
    return instant(cast("datetime | None", value)) if is_instant else value


_config = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("config.yaml"),
    show_default=True,
    envvar="PIXGATE_CONFIG",
    help="The configuration file (also PIXGATE_CONFIG).",
)
_cells = click.option(
    "--cells",
    "config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("cells.yaml"),
    show_default=True,
    envvar="PIXGATE_CELLS_FILE",
    help="The file that names the cells (also PIXGATE_CELLS_FILE).",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_by = click.option("--by", default="", help="Who does it, for the audit log.  [default: you]")


def _word(value: object) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "-"
    return str(value)
