"""``pixgate config``: create and check a configuration file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
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
@reading
def check(terminal: Terminal, *, probe: bool) -> None:
    """
    Check the configuration and the rows it serves.

    Exit status 0: fit to serve; 1: something is wrong; 2: the file cannot be read.
    """
    from gateway.config.checks import remarks
    from gateway.config.effective import config_digest
    from gateway.config.reading import ConfigError, read_settings

    try:
        settings = read_settings(terminal.config, os.environ)
    except OSError as problem:
        _tell(terminal, [_row("(file)", f"cannot be read: {problem.strerror}")])
        raise click.exceptions.Exit(UNREADABLE) from problem
    except ConfigError as problem:
        _tell(terminal, [_split(each) for each in problem.problems])
        raise click.exceptions.Exit(FINDINGS) from problem
    findings = [*_findings(settings)]
    if probe and not findings:
        from gateway.app.commands.probes import probed

        findings = [_row(*each) for each in asyncio.run(probed(settings))]
    noted = [_row(each.path, each.message) for each in remarks(settings)]
    if probe and not findings:
        from gateway.app.commands.probes import undecided

        noted += [_row(*each) for each in asyncio.run(undecided(settings))]
    _tell(terminal, findings, config_digest(settings), noted)
    if findings:
        raise click.exceptions.Exit(FINDINGS)


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
