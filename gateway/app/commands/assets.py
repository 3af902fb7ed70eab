"""``pixgate config init`` and ``pixgate assets``: files to start from."""

from __future__ import annotations

from pathlib import Path

import click

from gateway.cli.console import Terminal, reading
from gateway.config.assets import PRODUCTION, SANDBOX
from gateway.config.assets import assets as carried
from gateway.config.extras import SANDBOX as EXTRAS_OF_SANDBOX
from gateway.config.extras import install, is_installed


@click.command()
@click.option("--production", is_flag=True, help="The smallest configuration of production.")
@reading
def init(terminal: Terminal, *, production: bool) -> None:
    """
    Write a commented configuration file to start from; --config says where.

    Without --production it is a complete sandbox with every setting, for an installation
    of `pixgate[sandbox]`. An existing file is not touched.
    """
    text = carried()[PRODUCTION if production else SANDBOX].read_text(encoding="utf-8")
    try:
        with terminal.config.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        message = f"{terminal.config} cannot be made: {problem.strerror}"
        raise click.ClickException(message) from problem
    wanted = _EXTRAS_OF_PRODUCTION if production else EXTRAS_OF_SANDBOX
    lacking = not all(map(is_installed, wanted))
    steps = [*([install(wanted)] if lacking else []), "pixgate config check"]
    terminal.show({"file": str(terminal.config), "next": " && ".join(steps)})


_EXTRAS_OF_PRODUCTION = ("panel", "redis")
"""Extras that the smallest configuration of production uses."""


@click.command("assets")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@reading
def assets(terminal: Terminal, folder: Path) -> None:
    """
    Unpack the files for operators into DIR, which is new or empty.

    Configurations, alerts, dashboards, units, proxies, Compose, the chart, and what an
    image is built from.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            message = f"{folder} is not empty"
            raise click.ClickException(message)
        for name, source in carried().items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    except OSError as problem:
        message = f"{folder} cannot be written: {problem.strerror}"
        raise click.ClickException(message) from problem
    terminal.show_all([{"file": str(folder / name)} for name in carried()], ("file",))
