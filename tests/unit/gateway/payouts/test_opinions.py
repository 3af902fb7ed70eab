"""Verdicts: each leads to a final state."""

import pytest

from gateway.payouts.model import FINAL_STATES, PayoutState
from gateway.payouts.opinions import Verdict


@pytest.mark.parametrize(
    ("verdict", "state"),
    [(Verdict.PAID, PayoutState.PAID), (Verdict.FAILED, PayoutState.FAILED)],
)
def test_a_verdict_leads_to_a_final_state(verdict: Verdict, state: PayoutState):
    assert verdict.state is state
    assert verdict.state in FINAL_STATES


def test_nobody_may_decide_anything_else():
    assert len(Verdict) == 2
