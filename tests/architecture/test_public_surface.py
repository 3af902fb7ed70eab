"""What was promised to authors of adapters is there: nothing was taken away or renamed."""

from __future__ import annotations

import json

import pytest

from tests.world.public_surface import RECORD, broken, surface

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))


def test_promised_names_exist():
    """Additions are allowed; other changes need another PORT (docs/providers/stability.md)."""
    assert broken(RECORDED, surface()) == []


@pytest.mark.parametrize(
    ("promised", "present"),
    [
        ("read", "read"),
        ("read(a)", "read(a, b=)"),
        ("Made.__init__(self, a, b=)", "Made.__init__(self, a, more=, b=)"),
    ],
)
def test_additions_to_the_public_surface_are_allowed(promised: str, present: str):
    assert broken({"kit": [promised]}, {"kit": [present, "another"]}) == []


def test_removed_names_and_new_requirements_are_detected():
    cases = [
        ("read", "reads"),
        ("read(a)", "read(b)"),
        ("read(a)", "read(a, b)"),
        ("read(a, b=)", "read(a)"),
        ("read(a, b=)", "read(a, more=, b=)"),
        ("read(a, b=)", "read(a, b)"),
        ("Made.__init__(self, a)", "Made.__init__(self, a, b)"),
        ("Word.NEW=new", "Word.NEW=newer"),
    ]

    wrong = [
        (promised, present)
        for promised, present in cases
        if broken({"kit": [promised]}, {"kit": [present]}) != [f"kit: {promised}"]
    ]

    assert wrong == []


def test_a_removed_module_is_detected():
    assert broken({"kit": ["read"]}, {}) == ["kit: read"]
