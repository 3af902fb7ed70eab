"""``pixgate adapter``: what authors of adapters need."""

from __future__ import annotations

import contextlib
import io
import os
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from gateway.cli.console import Row, Terminal, reading, show_json
from provider_adapters.testing.commands.packages import matrix, new

if TYPE_CHECKING:
    import pytest

_SUITE: Final = Path(__file__).with_name("every_case.py")
_AT_ONCE: Final = 3
"""Most cases wait for time limits; more would make one another late."""
_OUTCOMES: Final = {"passed": "passed", "failed": "failed", "skipped": "not_applicable"}


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
    Let pytest run the suite against an adapter and its simulated bank.

    Exit status 0: every case that applies passed; 1: one failed, or no such adapter or case.
    """
    from provider_adapters.kit.factory import AdapterRefused
    from provider_adapters.testing.stages import subject_of

    if find_spec("pytest") is None:
        message = "the suite is run by pytest: pip install 'pixgate[verify]'"
        raise click.ClickException(message)
    try:
        subject_of(name, stage)
    except AdapterRefused as refused:
        raise click.ClickException(str(refused)) from refused
    import pytest

    cases = _Cases()
    ended = cases.run(name, stage, wanted, shown=not terminal.as_json)
    if ended == pytest.ExitCode.NO_TESTS_COLLECTED:
        from provider_adapters.testing.verify.cases import every_case

        groups = ", ".join(dict.fromkeys(map(_group, every_case())))
        message = f"no case begins with {wanted!r}; the groups are {groups}"
        raise click.ClickException(message)
    if terminal.as_json:
        show_json({"cases": cases.rows, "groups": cases.groups()})
    else:
        for row in cases.rows:
            if row["reason"]:
                click.echo(f"{row['outcome']:<15} {row['case']:<40} {row['reason']}")
    if ended != pytest.ExitCode.OK:
        raise click.exceptions.Exit(1)


class _Cases:
    """A plugin of pytest that keeps what became of each case."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def run(self, name: str, stage: str, wanted: str, *, shown: bool) -> int:
        """Run the cases whose id begins so, away from any configuration of the author's."""
        import pytest

        options = [
            *("-c", os.devnull, f"--rootdir={_SUITE.parent}", "--import-mode=importlib"),
            *("--disable-plugin-autoload", "-pprovider_adapters.testing.pytest_plugin"),
            *("-pno:cacheprovider", "-q", "-rN", "--tb=short"),
            *(f"--pixgate-adapter={name}", f"--pixgate-stage={stage}", f"-k[{wanted}"),
        ]
        if not wanted and find_spec("xdist"):
            options += ["-pxdist", f"-n{_AT_ONCE}"]
        with contextlib.nullcontext() if shown else contextlib.redirect_stdout(io.StringIO()):
            ended = pytest.main([*options, str(_SUITE)], plugins=[self])
        self.rows.sort(key=lambda row: str(row["case"]))
        return ended

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a case that has ended; it ran in its call."""
        if report.when == "call":
            self.rows.append(
                {
                    "case": report.nodeid.partition("[")[2].removesuffix("]"),
                    "outcome": _OUTCOMES[report.outcome],
                    "reason": _reason(report),
                    "checks": int(report.passed),
                    "seconds": round(report.duration, 3),
                }
            )

    def groups(self) -> list[Row]:
        """Count the outcomes of each group."""
        counted = Counter((_group(str(row["case"])), row["outcome"]) for row in self.rows)
        return [
            {
                "group": group,
                **{outcome: counted[group, outcome] for outcome in _OUTCOMES.values()},
                "checks": counted[group, "passed"],
            }
            for group in dict.fromkeys(group for group, _ in counted)
        ]


def _reason(report: pytest.TestReport) -> str:
    """Say in a line why a case failed or does not apply; empty for one that passed."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: not applicable: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(crash.message.split()) if crash else report.longreprtext


def _group(case: str) -> str:
    return case.partition(".")[0]
