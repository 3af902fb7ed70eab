"""``pixgate adapter new`` and ``matrix``: the package of an adapter, and what its README shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from provider_adapters.testing.scaffold.package import OPTIONS, NewPackage, PackageRefused, write

_Command = TypeVar("_Command", bound=Callable[..., object])


def _option(name: str, told: str) -> Callable[[_Command], _Command]:
    """Let one of the listed words be chosen; the first is the default."""
    words = OPTIONS[name]
    return click.option(
        f"--{name}", type=click.Choice(words), default=words[0], show_default=True, help=told
    )


@click.command("new")
@click.argument("name")
@_option("auth", "A token in a header, one fetched for id and secret, or a signature.")
@_option("money", 'How amounts are written: 1050, "10.50" or 10.50.')
@_option("paging", "How lists go on: by number, by skipping, or by the bank's cursor.")
@_option("proof", "What proves a callback.")
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="The folder that gets the package's folder; by default this one.",
)
def new(name: str, into: Path, **chosen: str) -> None:
    """
    Write the package of an adapter, with a simulated bank; it passes the suite as it is.

    Each choice is a module or two, which others can replace later.
    """
    try:
        folder = write(NewPackage(name=name, chosen=chosen), into)
    except (PackageRefused, OSError) as refused:
        raise click.ClickException(str(refused)) from refused
    click.echo(f"{folder} is written. Next:")
    click.echo(f"  pip install -e '{folder}[verify]' && pixgate adapter verify {name}")


@click.command("matrix")
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Replace what follows the line `<!-- matrix -->` of this file.",
)
def matrix(name: str, into: Path | None) -> None:
    """Print what an adapter declares, as its README shows it."""
    from provider_adapters.kit.matrix import MARK, markdown
    from provider_adapters.registry import describe

    rows = describe([name])
    for problem in (row.problem for row in rows if row.problem):
        raise click.ClickException(problem)
    columns = {row.name: row.capabilities for row in rows}
    text = "\n".join(markdown(columns, heading="###")).strip() + "\n"
    if into is None:
        click.echo(text, nl=False)
        return
    before, mark, _ = into.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        message = f"{into} has no line {MARK.strip()}"
        raise click.ClickException(message)
    into.write_text(f"{before}{MARK}\n{text}", encoding="utf-8")
