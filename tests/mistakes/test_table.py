"""The list cannot rot: each row still fits the code, and the tests it names exist."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.mistakes.mistake import Mistake
from tests.mistakes.page import NAMED, PAGE
from tests.mistakes.table import MISTAKES

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("gateway", "policies", "provider_adapters")
LEAST = 10

each_row = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)


@each_row
def test_the_right_text_stands_in_its_file_exactly_once(mistake: Mistake):
    text = (ROOT / mistake.file).read_text()

    assert Path(mistake.file).parts[0] in PRODUCT
    assert mistake.planted_in(text) != text


@each_row
def test_the_named_tests_exist(mistake: Mistake):
    """Without parameters in brackets: those change with what they are made of."""
    missing = [test for test in mistake.tests if not exists(test)]

    assert mistake.tests
    assert missing == []


def test_every_row_has_a_name_of_its_own():
    names = Counter(mistake.name for mistake in MISTAKES)

    assert [name for name, times in names.items() if times > 1] == []


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= LEAST


def test_the_page_tells_of_every_row():
    """After a change of the list: ``make mistakes RECORD=1``."""
    told = NAMED.findall((ROOT / PAGE).read_text())

    assert told == [mistake.name for mistake in MISTAKES]


def exists(test: str) -> bool:
    """Say whether a file, or a function of it, is there to be run."""
    path, _, function = test.partition("::")
    return (ROOT / path).is_file() and (not function or function in functions(path))


@cache
def functions(path: str) -> frozenset[str]:
    """Name the functions of a test file."""
    tree = ast.parse((ROOT / path).read_text())
    found = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, found))
