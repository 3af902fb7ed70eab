"""The outflow guard over six kinds of company: hardly a false stop, and thefts stopped early."""

from __future__ import annotations

import pytest

from tests.world.extent import WHOLE
from tests.world.outflow.kinds import KINDS
from tests.world.outflow.trial import MOST_OUTSIDE, Trial, lived, robbed

LIVES, DAYS, FALSE_STOPS = (10, 200, 1) if WHOLE else (1, 60, 0)
MOST_PART = 0.15
"""Of a normal day's money, for the seed of this test; docs/outflow.md has what each kind loses."""


@pytest.mark.parametrize("name", sorted(KINDS))
def test_false_stops_of_each_kind_of_company_are_rare(name: str):
    """In 2,000 days of a kind one false stop is tolerated; docs/outflow.md has the figures."""
    whole = Trial()

    for seed in range(1, LIVES + 1):
        whole.add(lived(name, seed, DAYS))

    assert len(whole.false) <= FALSE_STOPS, whole.false


@pytest.mark.parametrize("name", sorted(KINDS))
def test_both_thefts_are_stopped_before_the_fourth_payout_outside(name: str):
    found = robbed(name, 10_001)

    stolen = [*found.large, *found.middling]

    assert [each for each in stolen if each.by is None or each.part > MOST_PART] == []
    assert max(each.outside for each in stolen) <= MOST_OUTSIDE
