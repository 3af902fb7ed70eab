"""
Finds tests that depend on the wall clock: pauses, small time limits, measured times.

``python -m tests.architecture.wall_clock [path ...]`` lists them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.world.tree import ROOT

LEAST_S = 60
"""A smaller limit fails on a busy machine, though nothing is wrong."""

LEAPING = "leaping"
CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "monotonic_ns", "perf_counter_ns"})
LIMITED = frozenset(
    {"run", "check_output", "communicate", "wait", "wait_for", "join", "get", "urlopen"}
)
"""Calls whose ``timeout=`` limits a wait for a process, a thread or a socket."""


def waits(path: Path) -> Iterator[str]:
    """Name each place of a module that waits for, limits or reads the wall clock."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = _numbers(tree)
    leaps = _imports_leaping(tree)
    for function, call in _calls(tree):
        if leaps and (not function.startswith("test_") or function.endswith(f"@{LEAPING}")):
            continue
        found = _kind(call, constants)
        if found:
            yield f"{path.relative_to(ROOT)}:{call.lineno} {found}"


def _kind(call: ast.Call, constants: Mapping[str, float]) -> str | None:
    """Say what is wrong with a call, if anything."""
    name = _name(call.func)
    if name == "sleep":
        return None if _number(call.args[0], constants) == 0 else "a pause"
    if name in CLOCKS and ast.unparse(call.func) in {name, f"time.{name}"}:
        return "a measured time"
    given = _limit(name, call)
    limit = None if given is None else _number(given, constants)
    return None if limit is None or limit >= LEAST_S else f"a limit of {limit:g} s"


def _limit(name: str, call: ast.Call) -> ast.expr | None:
    """Return what limits a call's time, if anything does."""
    if name == "settimeout" or (name == "timeout" and ast.unparse(call.func) == "asyncio.timeout"):
        return call.args[0] if call.args else None
    if name == "wait_for" and len(call.args) > 1:
        return call.args[1]
    return _keyword(call, "timeout") if name in LIMITED else None


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Give each call with the outermost function or class that holds it."""
    for node in tree.body:
        name = getattr(node, "name", "")
        decorators = {_name(each) for each in getattr(node, "decorator_list", [])}
        name += f"@{LEAPING}" if LEAPING in decorators else ""
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                yield name, each


def _imports_leaping(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and any(each.name == LEAPING for each in node.names)
        for node in tree.body
    )


def _numbers(tree: ast.Module) -> dict[str, float]:
    """Collect the module's constants that are numbers."""
    return {
        target.id: float(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int | float)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _number(node: ast.expr, constants: Mapping[str, float]) -> float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def modules_of_tests(*tops: Path) -> Iterator[Path]:
    """Give the modules of the tests below these folders, in order."""
    for top in tops or (ROOT / "tests",):
        yield from [top] if top.is_file() else sorted(top.rglob("*.py"))


if __name__ == "__main__":
    for module in modules_of_tests(*(Path(each).resolve() for each in sys.argv[1:])):
        for place in waits(module):
            print(place)  # noqa: T201 - a command prints
