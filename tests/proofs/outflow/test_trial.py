"""The outflow guard over six kinds of company: hardly a false stop, and thefts stopped early."""

from __future__ import annotations

import pytest

from tests.world.extent import WHOLE
from tests.world.outflow.kinds import KINDS
from tests.world.outflow.trial import MOST_OUTSIDE, Trial, lived, robbed

LIVES = 10 if WHOLE else 1
DAYS = 200 if WHOLE else 60


@pytest.mark.parametrize("name", sorted(KINDS))
def test_no_kind_of_company_is_stopped_by_mistake(name: str):
    """The page has the figures of all kinds together; one of a kind is more than enough."""
    whole = Trial()

    for seed in range(1, LIVES + 1):
        whole.add(lived(name, seed, DAYS))

    assert len(whole.false) <= 1, whole.false


@pytest.mark.parametrize("name", sorted(KINDS))
def test_both_thefts_are_stopped_before_the_fourth_payout_outside(name: str):
    found = robbed(name, 10_001)

    stolen = [*found.large, *found.middling]

    assert [each for each in stolen if each.by is None] == []
    assert max(each.outside for each in stolen) <= MOST_OUTSIDE
