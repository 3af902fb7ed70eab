"""Every state of a payout in the three words that callers see."""

import pytest

from gateway.domain.payout_status import PayoutStatus, status_of
from gateway.domain.payouts import PayoutState

ENDED = {
    PayoutState.PAID: PayoutStatus.PAID,
    PayoutState.REJECTED: PayoutStatus.FAILED,
    PayoutState.FAILED: PayoutStatus.FAILED,
}


@pytest.mark.parametrize("state", PayoutState)
def test_what_is_not_certain_is_still_processing(state: PayoutState):
    """Not sent, unknown and accepted alike: a caller never branches on our doubts."""
    assert status_of(state) is ENDED.get(state, PayoutStatus.PROCESSING)
