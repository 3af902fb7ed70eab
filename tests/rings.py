"""
Which command runs which test: `make quick`, `make test`, `.ci/run`.

A test's ring follows from what it asks for, so that nobody has to list it. Marks say it, and the
Makefile leaves out by mark: ``pytest`` alone runs whatever it is pointed at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest

MARKS = {
    "operating": "faults around the service, with times measured; `make operating` at full size",
    "server": "asks for PostgreSQL, Redis or a browser; not in `make quick`",
    "process": "starts a process; not in `make quick`",
    "slow": "a unit test that takes long, as it sets up much; not in `make quick`",
    "pipeline": "large, or asks for a clone, a peer or others' programs; only in `.ci/run`",
}
SERVERS = frozenset({"browser", "postgres_server", "redis_server"})
PIPELINE = frozenset({"checkout", "street", "workshop"})
OPERATING_TESTS = "tests/operating/"
"""All of it is of the pipeline too: times are measured, and loads last seconds."""
PIPELINE_TESTS = (
    "tests/contract/authors/",
    "tests/contract/openapi/clients/",
    "tests/contract/transport/",
    "tests/operating/",
    "tests/readme/",
    "tests/simulation/",
    "tests/torture/",
)
"""All that `make pipeline` collects; the Makefile has the same list."""
MAY_START = ("operating", "server", "process", "pipeline")
# What starts another program, whatever it goes through: see the table of audit events of Python.
STARTS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.system", "subprocess.Popen"})


def mark(items: Iterable[pytest.Item]) -> None:
    """
    Mark each test by its folder, the fixtures it asks for, and its database's parameter.

    Raises:
        UsageError: One of the pipeline stands where the pipeline does not look.
    """
    for item in items:
        asked = set(getattr(item, "fixturenames", ()))
        if PIPELINE & asked:
            item.add_marker("pipeline")
        if item.nodeid.startswith(OPERATING_TESTS):
            item.add_marker("operating")
            item.add_marker("pipeline")
        if SERVERS & asked or "postgres" in _parameters(item):
            item.add_marker("server")
        if item.get_closest_marker("pipeline") and not item.nodeid.startswith(PIPELINE_TESTS):
            message = (
                f"`make pipeline` does not collect {item.nodeid}: add its folder to both lists"
            )
            raise pytest.UsageError(message)


def _parameters(item: pytest.Item) -> list[str]:
    given = getattr(item, "callspec", None)
    return [each for each in given.params.values() if isinstance(each, str)] if given else []


class Processes:
    """
    Refuses a process that a test starts without the mark; the unit tests stand under it.

    An audit hook cannot be taken back, so there is one, and it is told of each test.
    """

    def __init__(self) -> None:
        self._test = ""
        self._hears = False

    def watch(self, item: pytest.Item) -> None:
        """Refuse them from here on, unless the test may start one."""
        if not self._hears:
            sys.addaudithook(self._hear)
            self._hears = True
        may = any(item.get_closest_marker(name) for name in MAY_START)
        self._test = "" if may else item.nodeid

    def rest(self) -> None:
        """Let everything pass."""
        self._test = ""

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if self._test and event in STARTS:
            message = f"{self._test} starts a process: it needs `@pytest.mark.process`"
            raise RuntimeError(message)


PROCESSES = Processes()
