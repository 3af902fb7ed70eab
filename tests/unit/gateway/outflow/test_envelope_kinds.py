"""A small part of the guard's trial (tests/proofs/outflow): six kinds of company, both thefts."""

from __future__ import annotations

import pytest

from tests.world.outflow.kinds import KINDS
from tests.world.outflow.trial import MOST_OUTSIDE, lived, missed, robbed

SEED = 3
DAYS = 49
KEPT = ("black friday", "night shifts", "salaries")
"""Kinds in which no theft takes more than a twentieth of a normal day (docs/outflow.md)."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_company_without_a_thief_pays_on(name: str):
    assert lived(name, SEED, DAYS).false == []


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_a_theft_is_stopped_after_a_twentieth_of_a_day(name: str):
    found = robbed(name, SEED)

    stolen = [*found.large, *found.middling]

    assert missed(stolen) == []
    assert max(each.outside for each in stolen) <= MOST_OUTSIDE
