"""Rules for the tests themselves: who imports whom, and nothing that depends on the wall clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.wall_clock import modules_of_tests, waits
from tests.world.tree import ROOT

TESTS = ROOT / "tests"
SHARED = ("servers", "world")
"""What every suite may import, lowest first."""

WALL_CLOCK = {
    "tests/architecture/walk.py": "writes a page: what a request begins ends within milliseconds",
    "tests/mistakes/": "a command: it prints how long it took, and ends tests that hang",
    "tests/proofs/events/": "faults that last for a time, around real processes",
    "tests/proofs/notifications/told.py": "a command: it prints how long a mail takes",
    "tests/proofs/operating/": "faults that last for a time, around real processes",
    "tests/proofs/outflow/flood.py": "a command: it pays for half a minute at a running gateway",
    "tests/proofs/simulation/": "sleeps on the simulated clock",
    "tests/proofs/torture/": "faults that last for a time, around real processes",
    "tests/proofs/transport/test_peers.py": "a peer that closes idle connections after a second",
    "tests/report.py": "prints once a minute how far a run is",
    "tests/servers/process.py": "asks a server that starts whether it is ready",
    "tests/world/raw_http.py": "a caller that sends its request in pieces",
    "tests/world/waiting.py": "asks again whether a condition holds",
}
"""Where a test may pause or read the wall clock, and why. A path that ends in / is a folder."""


def test_no_test_module_imports_a_test_module():
    """Code shared by several tests is in a module without ``test_``."""
    found = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in modules_of_tests()
        for module in imported(path)
        if module.rpartition(".")[2].startswith("test_")
    ]

    assert found == []


def test_a_suite_imports_only_itself_and_shared_modules():
    """``servers`` is below ``world``, ``world`` below the suites; no suite imports another."""
    allowed = {"servers": {"servers"}, "world": {"servers", "world"}}
    found = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in modules_of_tests()
        if (suite := path.relative_to(TESTS).parts[0]) and not path.parent.samefile(TESTS)
        for module in imported(path)
        if module.split(".")[1] not in allowed.get(suite, {suite, *SHARED})
    ]

    assert found == []


@cache
def test_no_test_depends_on_the_wall_clock():
    """``tests.world.leaping`` and ``tests.world.waiting`` say what to do instead."""
    places = [place for path in modules_of_tests() for place in waits(path)]

    assert [place for place in places if not place.startswith(tuple(WALL_CLOCK))] == []
    assert [path for path in WALL_CLOCK if not any(each.startswith(path) for each in places)] == []


def imported(path: Path) -> tuple[str, ...]:
    """Name the modules of the tests that a module imports."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            for each in node.names:
                name = f"{node.module}.{each.name}"
                is_module = (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()
                yield name if is_module else node.module or ""
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("tests."))
