"""Rules for the tests themselves: who imports whom, and nothing that depends on the wall clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.wall_clock import modules_of_tests
from tests.world.tree import ROOT

TESTS = ROOT / "tests"
SHARED = ("servers", "world")
"""What every suite may import, lowest first."""


def test_no_test_module_imports_a_test_module():
    """What several tests share stands in a module without ``test_``."""
    found = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in modules_of_tests()
        for module in imported(path)
        if module.rpartition(".")[2].startswith("test_")
    ]

    assert found == []


def test_a_suite_imports_itself_and_what_all_share():
    """``servers`` below ``world`` below the suites; suites stand side by side."""
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
