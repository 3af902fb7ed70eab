"""The list cannot rot: each row still fits the code, and the tests it names exist."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

from tests.mistakes.page import NAMED, PAGE
from tests.mistakes.table import MISTAKES

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("clients", "deploy", "gateway", "policies", "provider_adapters")
LEAST = 44


def test_the_right_text_of_a_row_is_in_its_file_exactly_once():
    """After a change of the line, write the mistake for the new code."""
    rotten = {
        mistake.name: f"{found} times in {mistake.file}: {mistake.right!r}"
        for mistake in MISTAKES
        if (found := text(mistake.file).count(mistake.right)) != 1
    }

    assert rotten == {}


def test_every_mistake_changes_a_product_file():
    strange = [
        mistake.name
        for mistake in MISTAKES
        if not mistake.file.startswith(PRODUCT) or mistake.wrong == mistake.right
    ]

    assert strange == []


def test_the_tests_that_a_row_names_exist():
    """Without parameters in brackets, which change with their values."""
    missing = {
        mistake.name: [test for test in mistake.tests if not exists(test)] for mistake in MISTAKES
    }

    assert all(mistake.tests for mistake in MISTAKES)
    assert {name: tests for name, tests in missing.items() if tests} == {}


def test_every_row_has_a_unique_name():
    names = Counter(mistake.name for mistake in MISTAKES)

    assert [name for name, times in names.items() if times > 1] == []


def test_the_table_has_a_minimum_of_mistakes():
    assert len(MISTAKES) >= LEAST


def test_the_page_lists_every_mistake_in_order():
    told = NAMED.findall((ROOT / PAGE).read_text())
    rows = [mistake.name for mistake in MISTAKES]

    assert set(told) ^ set(rows) == set(), f"`make mistakes RECORD=1` writes {PAGE}"
    assert told == rows, f"`make mistakes RECORD=1` writes {PAGE}"


def text(path: str) -> str:
    """Read a file; a missing one is empty."""
    file = ROOT / path
    return file.read_text() if file.is_file() else ""


def exists(test: str) -> bool:
    """Say whether a file, or a function of it, is there to be run."""
    path, _, function = test.partition("::")
    return (ROOT / path).is_file() and (not function or function in functions(path))


@cache
def functions(path: str) -> frozenset[str]:
    """Name the functions of a test file."""
    found = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in ast.walk(ast.parse(text(path))) if isinstance(node, found)
    )
