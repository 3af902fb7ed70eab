"""``pixgate config``: create and check a configuration file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.app.commands.assets import init
from gateway.cli.console import Row, Terminal, reading

if TYPE_CHECKING:
    from gateway.config.settings import Settings

FINDINGS, UNREADABLE = 1, 2


@click.group("config")
def config() -> None:
    """Make and check the configuration."""


config.add_command(init)


@config.command()
@click.option(
    "--probe", is_flag=True, help="Also write to store and cache, and reach the providers."
)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Another configuration, which must share no key, pepper, certificate or credential of a"
    " bank with this one. With --probe the credentials in both stores are compared, too.",
)
@click.option(
    "--against-environment",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The variables of the other one, in lines NAME='value'; else those of this process.",
)
@reading
def check(
    terminal: Terminal, *, probe: bool, against: Path | None, against_environment: Path | None
) -> None:
    """
    Check the configuration and the rows it serves.

    Exit status 0: fit to serve; 1: something is wrong; 2: the file cannot be read.
    """
    if against_environment and not against:
        message = "--against-environment belongs to --against"
        raise click.UsageError(message)
    from gateway.config.effective import config_digest

    settings = _settings(terminal)
    findings = [*_findings(settings)]
    if probe and not findings:
        from gateway.app.commands.probes import probed

        findings = [_row(*each) for each in asyncio.run(probed(settings))]
    if against and not findings:
        findings = asyncio.run(_compared(settings, against, against_environment, probe=probe))
    noted = [*_remarks(settings, probe=probe and not findings)]
    _tell(terminal, findings, config_digest(settings), noted)
    if findings:
        raise click.exceptions.Exit(FINDINGS)


def _settings(terminal: Terminal) -> Settings:
    """Read the configuration; print its errors and exit where it cannot be used."""
    from gateway.config.reading import ConfigError, read_settings

    try:
        return read_settings(terminal.config, os.environ)
    except OSError as problem:
        _tell(terminal, [_row("(file)", f"cannot be read: {problem.strerror}")])
        raise click.exceptions.Exit(UNREADABLE) from problem
    except ConfigError as problem:
        _tell(terminal, [_split(each) for each in problem.problems])
        raise click.exceptions.Exit(FINDINGS) from problem


def _remarks(settings: Settings, *, probe: bool) -> Iterator[Row]:
    """Return permitted but risky values in the settings and in the store."""
    from gateway.config.checks import remarks

    for each in remarks(settings):
        yield _row(each.path, each.message)
    if probe:
        from gateway.app.commands.probes import undecided

        for found in asyncio.run(undecided(settings)):
            yield _row(*found)


def _findings(settings: Settings) -> Iterator[Row]:
    """Return the problems, without opening anything."""
    from gateway.app.commands.probes import unmakeable
    from gateway.app.surfaces import described_surfaces
    from gateway.config.checks import check as check_settings
    from gateway.http.table import check_surfaces
    from provider_adapters.registry import names

    found = check_settings(settings, names())
    for finding in found:
        yield _row(finding.path, finding.message)
    if not found:
        for path, message in unmakeable(settings):
            yield _row(path, message)
    for line in check_surfaces(described_surfaces(settings)):
        yield _split(line)


async def _compared(
    settings: Settings, file: Path, environment: Path | None, *, probe: bool
) -> list[Row]:
    """Return the secrets that another configuration has, too; or why that cannot be said."""
    from gateway.app.commands import shared_secrets
    from gateway.config.reading import ConfigError, read_settings
    from gateway.core.audit_context import RuleViolation

    try:
        theirs = shared_secrets.variables_of(environment, os.environ) if environment else os.environ
        other = read_settings(file, theirs)
        ours, known = shared_secrets.configured(settings), shared_secrets.configured(other)
        if probe:
            ours |= await shared_secrets.stored(settings)
            known |= await shared_secrets.stored(other)
    except ConfigError as problem:
        return [_row("--against", f"{file}: {each}") for each in problem.problems]
    except OSError as problem:
        return [_row("--against", f"{problem.filename} cannot be read: {problem.strerror}")]
    except (RuleViolation, ValueError) as problem:
        return [_row("--against", str(problem))]
    return [
        _row(path, f"is the same as in {file}: {there}")
        for path, there in shared_secrets.shared(ours, known)
    ]


def _tell(
    terminal: Terminal, findings: list[Row], digest: str = "", remarks: Sequence[Row] = ()
) -> None:
    """Print the outcome; findings and remarks go to standard error."""
    if terminal.as_json:
        said = {"ok": not findings, "digest": digest, "findings": findings}
        terminal.show(said | {"remarks": list(remarks)})
        return
    for finding in (*findings, *remarks):
        click.echo(f"{terminal.config}: {finding['path']}: {finding['message']}", err=True)
    if not findings:
        click.echo(f"{terminal.config}: fit to serve, digest {digest}")


def _split(line: str) -> Row:
    path, _, message = line.partition(": ")
    return _row(path, message)


def _row(path: str, message: str) -> Row:
    return {"path": path, "message": message}
