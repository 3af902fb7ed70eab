"""Every rule of payouts is needed: without it an invariant breaks, and in how many lives."""

from __future__ import annotations

import pytest

from tests.proofs.simulation.lives import Life, run
from tests.proofs.simulation.mutants import MUTANTS, Mutant
from tests.world.extent import WHOLE

MOST_LIVES = 500
QUICK = ("R1", "R3", "R4", "R6 error", "R11")
"""Missed in one of the first lives."""
CHOSEN = [each for each in MUTANTS if WHOLE or each.rule in QUICK]


def test_every_rule_has_a_mutant():
    rules = {mutant.rule.split()[0] for mutant in MUTANTS}

    assert rules == {f"R{number}" for number in range(1, 21)}
    gone = [each.rule for each in MUTANTS if not hasattr(each.owner, each.part)]
    assert gone == []


@pytest.mark.parametrize("mutant", CHOSEN, ids=lambda mutant: f"{mutant.rule}: {mutant.says}")
def test_a_mutant_is_caught(mutant: Mutant):
    """The same run passes with the rule in place."""
    with mutant.at_work():
        caught = first_broken(mutant)

    assert caught is not None, f"{mutant.rule} is not missed in {MOST_LIVES} lives"
    assert caught.violation.split()[0] in mutant.breaks
    assert run(caught.seed, mutant.life).violation == ""


def first_broken(mutant: Mutant) -> Life | None:
    """The first life that breaks."""
    lives = (run(seed, mutant.life) for seed in range(MOST_LIVES))
    return next((life for life in lives if life.violation), None)
