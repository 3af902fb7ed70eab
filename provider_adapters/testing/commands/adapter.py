"""``pixgate adapter``: write the package of an adapter, verify an adapter, and show its matrix."""

from __future__ import annotations

import contextlib
import io
import os
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from gateway.cli.console import Row, Terminal, reading, show_json
from provider_adapters.testing.scaffold.package import OPTIONS, PackageRefused, write

if TYPE_CHECKING:
    import pytest

_SUITE: Final = Path(__file__).with_name("every_case.py")
_AT_ONCE: Final = 3
"""Most cases wait for time limits; more would make one another late."""
_OUTCOMES: Final = {"passed": "passed", "failed": "failed", "skipped": "not_applicable"}

_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group("adapter")
def adapter() -> None:
    """Make and verify provider adapters."""


def _option(name: str, meaning: str) -> Callable[[_Command], _Command]:
    """Add an option of the package; the first of its words is the default."""
    words = OPTIONS[name]
    return click.option(
        f"--{name}", type=click.Choice(words), default=words[0], show_default=True, help=meaning
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
        folder = write(name, into, chosen)
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
    """Print an adapter's capabilities, as its README shows them."""
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

    ended, rows = _run(name, stage, wanted, shown=not terminal.as_json)
    if ended == pytest.ExitCode.NO_TESTS_COLLECTED:
        from provider_adapters.testing.verify.trial import every_case

        groups = ", ".join(dict.fromkeys(map(_group, every_case())))
        message = f"no case begins with {wanted!r}; the groups are {groups}"
        raise click.ClickException(message)
    if terminal.as_json:
        show_json({"cases": rows, "groups": _groups(rows)})
    else:
        for row in rows:
            if row["reason"]:
                click.echo(f"{row['outcome']:<15} {row['case']:<40} {row['reason']}")
    if ended != pytest.ExitCode.OK:
        raise click.exceptions.Exit(1)


def _run(name: str, stage: str, wanted: str, *, shown: bool) -> tuple[int, list[Row]]:
    """Run the cases whose id begins with ``wanted``, without the author's pytest configuration."""
    import pytest

    options = [
        *("-c", os.devnull, f"--rootdir={_SUITE.parent}", "--import-mode=importlib"),
        *("--disable-plugin-autoload", "-pprovider_adapters.testing.pytest_plugin"),
        *("-pno:cacheprovider", "-q", "-rN", "--tb=short"),
        *(f"--pixgate-adapter={name}", f"--pixgate-stage={stage}", f"-k[{wanted}"),
    ]
    if not wanted and find_spec("xdist"):
        options += ["-pxdist", f"-n{_AT_ONCE}"]
    cases = _Cases()
    with contextlib.nullcontext() if shown else contextlib.redirect_stdout(io.StringIO()):
        ended = pytest.main([*options, str(_SUITE)], plugins=[cases])
    return ended, sorted(cases.rows, key=lambda row: str(row["case"]))


class _Cases:
    def __init__(self) -> None:
        self.rows: list[Row] = []

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


def _groups(rows: Sequence[Row]) -> list[Row]:
    counted = Counter((_group(str(row["case"])), row["outcome"]) for row in rows)
    return [
        {
            "group": group,
            **{outcome: counted[group, outcome] for outcome in _OUTCOMES.values()},
            "checks": counted[group, "passed"],
        }
        for group in dict.fromkeys(group for group, _ in counted)
    ]


def _group(case: str) -> str:
    return case.partition(".")[0]


def _reason(report: pytest.TestReport) -> str:
    """Return a line with why a case failed or does not apply; empty for one that passed."""
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: not applicable: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(crash.message.split()) if crash else report.longreprtext
