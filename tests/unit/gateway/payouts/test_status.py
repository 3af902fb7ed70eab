"""Every state of a payout in the three words that callers see."""

from gateway.payouts.model import PayoutState
from gateway.payouts.status import PayoutStatus, states_of, status_of

ENDED = {
    PayoutState.PAID: PayoutStatus.PAID,
    PayoutState.REJECTED: PayoutStatus.FAILED,
    PayoutState.FAILED: PayoutStatus.FAILED,
}


def test_what_is_not_certain_is_still_processing():
    """Not sent, unknown and accepted alike: a caller never branches on our doubts."""
    wrong = [
        state
        for state in PayoutState
        if status_of(state) is not ENDED.get(state, PayoutStatus.PROCESSING)
    ]

    assert wrong == []


def test_every_state_belongs_to_the_one_status_that_it_is_shown_as():
    """A search by status finds what is shown with it: nothing twice, nothing left out."""
    found = [(state, status) for status in PayoutStatus for state in states_of(status)]

    assert sorted(found) == sorted((state, status_of(state)) for state in PayoutState)
