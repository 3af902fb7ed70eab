"""``pixgate adapter``: what authors of adapters need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gateway.cli.console import Row, Terminal, reading, run, show_json
from provider_adapters.testing.commands.packages import matrix, new

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provider_adapters.testing.verify.cases import Case, CaseResult
    from provider_adapters.testing.verify.run import Report
    from provider_adapters.testing.verify.trial import Subject

_GROUP_COLUMNS = ("group", "passed", "failed", "not_applicable", "checks")
_FAILED = 1


@click.group("adapter")
def adapter() -> None:
    """Make and verify provider adapters."""


adapter.add_command(new)
adapter.add_command(matrix)


@adapter.command("verify")
@click.argument("name")
@click.option("--stage", default="", metavar="MODULE:NAME", help="The class of its stage.")
@click.option("--case", "wanted", default="", metavar="PREFIX", help="Only these cases: wire.get_")
@reading
def verify(terminal: Terminal, name: str, stage: str, wanted: str) -> None:
    """
    Run the suite against an adapter and its simulated bank.

    Exit status 0: every case that applies passed; 1: one failed, or no such adapter or case.
    """
    from provider_adapters.kit.factory import AdapterRefused
    from provider_adapters.testing.stages import subject_of

    try:
        subject = subject_of(name, stage)
    except AdapterRefused as refused:
        raise click.ClickException(str(refused)) from refused
    report = run(_verified(terminal, subject, _cases(wanted)))
    _show(terminal, report)
    if report.failed:
        raise click.exceptions.Exit(_FAILED)


def _cases(wanted: str) -> Sequence[Case]:
    """Return the cases whose id begins so; raises ``ClickException`` when none does."""
    from provider_adapters.testing.verify.run import every_case

    cases = [each for each in every_case() if each.id.startswith(wanted)]
    if not cases:
        groups = ", ".join(dict.fromkeys(each.group for each in every_case()))
        message = f"no case begins with {wanted!r}; the groups are {groups}"
        raise click.ClickException(message)
    return cases


async def _verified(terminal: Terminal, subject: Subject, cases: Sequence[Case]) -> Report:
    """Run the cases, and print each as soon as it has ended."""
    from provider_adapters.testing.verify.run import Report, results

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
