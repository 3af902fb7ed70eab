"""
A pytest plugin for the make targets: a run of thousands of tests prints a line each minute.

A failure is named at once and shown in the end as pytest shows it. Skipped tests are listed in the
end by reason; for a missing server the reason has the command that installs it.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict

import pytest

_EVERY_S = 60.0


class Report:
    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal
        self._began = self._printed = time.monotonic()
        self._done = 0

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Print no letter for a test."""
        if hasattr(report, "wasxfail"):
            return None
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        if report.when == "call" or not report.passed:
            return report.outcome, "", ""
        return "", "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print a test that failed at once, and once a minute how far the run is."""
        self._done += report.when == "teardown"
        if report.failed:
            self._terminal.write_line(f"failed: {report.nodeid}")
        now = time.monotonic()
        if now - self._printed >= _EVERY_S:
            self._printed = now
            minutes, seconds = divmod(round(now - self._began), 60)
            self._terminal.write_line(f"{minutes}:{seconds:02} {self._done:,} tests done")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print each reason for skipping once, with the tests by file."""
        files: dict[str, Counter[str]] = defaultdict(Counter)
        for report in terminalreporter.stats.get("skipped", []):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            files[reason][report.nodeid.partition("::")[0]] += 1
        for reason, counted in sorted(files.items(), key=lambda each: -each[1].total()):
            terminalreporter.write_line(f"{counted.total()} skipped: {reason}")
            for name, count in sorted(counted.items()):
                terminalreporter.write_line(f"  {name} ({count})")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Report from the process that prints; a worker prints nothing."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Report(terminal), "counting")
