"""``pixgate adapter``: what authors of adapters need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from gateway.cli.console import Row, Terminal, reading, run, show_json
from provider_adapters.scaffold.package import OPTIONS, NewPackage, PackageRefused, write

if TYPE_CHECKING:
    from provider_adapters.verify.cases import CaseResult
    from provider_adapters.verify.run import Report
    from provider_adapters.verify.trial import Subject

_GROUP_COLUMNS = ("group", "passed", "failed", "not_applicable", "checks")
_FAILED = 1
_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group("adapter")
def adapter() -> None:
    """Make and verify provider adapters."""


def _option(name: str, told: str) -> Callable[[_Command], _Command]:
    """Let one of the listed words be chosen; the first is the default."""
    words = OPTIONS[name]
    return click.option(
        f"--{name}", type=click.Choice(words), default=words[0], show_default=True, help=told
    )


@adapter.command("new")
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


@adapter.command("matrix")
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


@adapter.command("verify")
@click.argument("name")
@click.option("--stage", default="", metavar="MODULE:NAME", help="The class of its stage.")
@click.option("--case", "wanted", default="", metavar="PREFIX", help="Only these cases: wire.get_")
@reading
def verify(terminal: Terminal, name: str, stage: str, wanted: str) -> None:
    """
    Run the suite against an adapter and its simulated bank.

    Exit status 0: every case that applies passed; 1: one failed, or there is no such adapter.
    """
    from provider_adapters.kit.factory import AdapterRefused
    from provider_adapters.stages import subject_of

    try:
        subject = subject_of(name, stage)
    except AdapterRefused as refused:
        raise click.ClickException(str(refused)) from refused
    report = run(_verified(terminal, subject, wanted))
    _show(terminal, report)
    if report.failed or not report.results:
        raise click.exceptions.Exit(_FAILED)


async def _verified(terminal: Terminal, subject: Subject, wanted: str) -> Report:
    """Run the cases, and print each as soon as it has ended."""
    from provider_adapters.verify.run import Report, every_case, results

    cases = [each for each in every_case() if each.id.startswith(wanted)]
    ended = []
    async for each in results(subject, cases):
        ended.append(each)
        if not terminal.as_json:
            click.echo(f"{each.outcome:<15} {each.id:<44} {each.checks:>5}  {each.reason}".rstrip())
    return Report(tuple(ended))


def _show(terminal: Terminal, report: Report) -> None:
    """Print the counts of each group; as JSON, the cases too."""
    groups: list[Row] = [
        {
            "group": name,
            "passed": counts.passed,
            "failed": counts.failed,
            "not_applicable": counts.not_applicable,
            "checks": counts.checks,
        }
        for name, counts in report.groups.items()
    ]
    if terminal.as_json:
        show_json({"cases": [_row(each) for each in report.results], "groups": groups})
        return
    click.echo("")
    terminal.show_all(groups, _GROUP_COLUMNS)


def _row(ended: CaseResult) -> Row:
    return {
        "case": ended.id,
        "outcome": str(ended.outcome),
        "reason": ended.reason,
        "checks": ended.checks,
        "seconds": round(ended.seconds, 3),
    }
