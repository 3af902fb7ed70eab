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

from tests.rings import MARKS, PROCESSES, mark

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

    @property
    def callspec(self) -> SimpleNamespace:
        return SimpleNamespace(params=self.params)

    def add_marker(self, name: str) -> None:
        self.marks.add(name)


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
        r"^(\w+): .*\n\t@.* pytest .*-m \"?(.+?)\"?(?: \$\(TESTS\))?$", re.MULTILINE
    )

    left_out = dict(command.findall(MAKEFILE))
    done = re.findall(r"^make (\w+)$", PIPELINE, re.MULTILINE)

    assert left_out == {
        "quick": f"not ({' or '.join(MARKS)})",
        "test": "not pipeline",
        "pipeline": "pipeline",
    }
    assert done == ["check", "clients", "test", "pipeline"]


def test_the_pipeline_demands_every_server_that_may_be_absent():
    """What ``TEST_REQUIRE`` does not name would be skipped, and nobody would know."""
    asked = re.compile(r"""\b(?:absent|found)\(\"(\w+)\"|^NAME = \"(\w+)\"$""", re.MULTILINE)
    texts = [file.read_text() for file in (ROOT / "tests/servers").glob("[!t]*.py")]
    names = {name for text in texts for pair in asked.findall(text) for name in pair if name}

    demanded = re.search(r"^export TEST_REQUIRE=(\S+)$", PIPELINE, re.MULTILINE)[1].split(",")

    assert {"postgres", "redis", "browser", "clients"} <= names
    assert names | {"clone"} == set(demanded)
