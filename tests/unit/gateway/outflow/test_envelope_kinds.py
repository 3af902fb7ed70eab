"""A small part of the guard's trial (tests/proofs/outflow): six kinds of company, both thefts."""

from __future__ import annotations

import pytest

from tests.world.outflow.kinds import KINDS
from tests.world.outflow.trial import MOST_OUTSIDE, lived, robbed

SEED = 3
DAYS = 49
ROBBED = ("night shifts", "salaries")
MOST_PART = 0.1
"""Of a normal day's money; docs/outflow.md has what each kind loses."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_company_without_a_thief_pays_on(name: str):
    assert lived(name, SEED, DAYS).false == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBBED)
def test_a_theft_is_stopped_before_the_fourth_payout_outside(name: str):
    found = robbed(name, SEED)

    stolen = [*found.large, *found.middling]

    assert [each for each in stolen if each.by is None or each.part > MOST_PART] == []
    assert max(each.outside for each in stolen) <= MOST_OUTSIDE
