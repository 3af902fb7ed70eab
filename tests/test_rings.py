"""A test's ring follows from what it asks for."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.rings import MARKS, PIPELINE_TESTS, PROCESSES, mark

ROOT = Path(__file__).parents[1]
MAKEFILE, PIPELINE = (ROOT / "Makefile").read_text(), (ROOT / ".ci/run").read_text()
WAYS: list[Callable[[], object]] = [
    lambda: subprocess.run(["/bin/true"], check=True),
    lambda: asyncio.run(asyncio.create_subprocess_exec("true")),
    lambda: os.system("/bin/true"),  # noqa: S605 - refused before anything is run
    lambda: os.posix_spawn("/bin/true", ["true"], {}),
    os.fork,
]


@dataclass
class Test:
    """As much of a collected test as is looked at."""

    __test__ = False

    fixturenames: list[str] = field(default_factory=list)
    params: dict[str, object] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    nodeid: str = "tests/readme/test_readme.py::test_it"

    @property
    def callspec(self) -> SimpleNamespace:
        return SimpleNamespace(params=self.params)

    def add_marker(self, name: str) -> None:
        self.marks.add(name)

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


@pytest.mark.parametrize(
    ("test", "marks"),
    [
        (Test(["clock"]), set()),
        (Test(params={"kind": "sqlite"}), set()),
        (Test(params={"kind": "postgres"}), {"server"}),
        (Test(["postgres_url", "postgres_server"]), {"server"}),
        (Test(["redis_server"]), {"server"}),
        (Test(["browser"]), {"server"}),
        (Test(["checkout"]), {"pipeline"}),
        (Test(["street"]), {"pipeline"}),
        (Test(["workshop"]), {"pipeline"}),
        (Test(["street", "postgres_server"]), {"pipeline", "server"}),
        (Test(nodeid="tests/operating/test_dns.py::test_it"), {"operating", "pipeline"}),
    ],
    ids=lambda value: "-".join(sorted(value)) or "none" if isinstance(value, set) else "",
)
def test_a_test_is_marked_by_what_it_asks_for(test: Test, marks: set[str]):
    mark([test])

    assert test.marks == marks


@pytest.mark.parametrize("start", WAYS, ids=["run", "asyncio", "system", "spawn", "fork"])
def test_no_unit_test_starts_a_process_without_the_mark(start, request: pytest.FixtureRequest):
    PROCESSES.watch(request.node)
    try:
        with pytest.raises(RuntimeError, match=r"needs `@pytest.mark.process`"):
            start()
    finally:
        PROCESSES.rest()


@pytest.mark.process
def test_with_the_mark_it_may(request: pytest.FixtureRequest):
    PROCESSES.watch(request.node)
    try:
        done = subprocess.run(["/bin/true"], check=False)
    finally:
        PROCESSES.rest()

    assert done.returncode == 0


def test_no_ring_leaves_out_what_no_other_runs():
    """`make quick` is a part of `make test`; the pipeline runs that and the rest."""
    command = re.compile(
        r"^(\w+): .*\n\t@.* pytest .*-m \"?(.+?)\"?(?: \$\((?:PIPELINE_|OPERATING_)?TESTS\))?$",
        re.MULTILINE,
    )

    left_out = dict(command.findall(MAKEFILE))
    called = re.findall(r"^make (?:-\S+ )*(.+)$", PIPELINE, re.MULTILINE)
    done = [ring for each in called for ring in each.split()]

    assert left_out == {
        "quick": f"not ({' or '.join(MARKS)})",
        "test": "not pipeline",
        "pipeline": "pipeline",
        "operating": "operating",
    }
    assert done == ["check", "clients", "test", "pipeline"]


def test_the_pipeline_collects_where_its_tests_stand():
    """A test of the pipeline that stands elsewhere is refused when it is collected."""
    listed = re.search(r"^PIPELINE_TESTS := (.+)$", MAKEFILE, re.MULTILINE)[1].split()

    assert tuple(f"{folder}/" for folder in listed) == PIPELINE_TESTS


@pytest.mark.parametrize("test", [Test(["street"]), Test(marks={"pipeline"})])
def test_a_test_of_the_pipeline_stands_where_the_pipeline_looks(test: Test):
    """Else nobody would run it."""
    test.nodeid = "tests/surfaces/test_far_away.py::test_it"

    with pytest.raises(pytest.UsageError, match="test_far_away"):
        mark([test])


def test_the_pipeline_demands_every_server_that_may_be_absent():
    """What ``TEST_REQUIRE`` does not name would be skipped, and nobody would know."""
    asked = re.compile(r"""\b(?:absent|found)\(\"(\w+)\"|^NAME = \"(\w+)\"$""", re.MULTILINE)
    files = [*(ROOT / "tests/servers").glob("[!t]*.py"), ROOT / "tests/browser/axe.py"]
    texts = [file.read_text() for file in files]
    names = {name for text in texts for pair in asked.findall(text) for name in pair if name}

    told = re.findall(r"\bTEST_REQUIRE\+?=,?([\w,]+)", PIPELINE)
    demanded = ",".join(told).split(",")

    assert {"postgres", "redis", "browser", "clients"} <= names
    assert names | {"clone"} == set(demanded)
