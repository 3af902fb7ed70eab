"""One word for how sure we are."""

from dataclasses import replace

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.payouts.payouts import Failure, PayoutState
from gateway.domain.payouts.status import Certainty, certainty_of
from tests.world.stores.samples import payout

WORDS = {
    PayoutState.SENDING: Certainty.SENT_UNKNOWN,
    PayoutState.UNKNOWN: Certainty.SENT_UNKNOWN,
    PayoutState.NOT_SENT: Certainty.NOT_SENT,
    PayoutState.ACCEPTED: Certainty.CONFIRMED_ACCEPTED,
    PayoutState.PAID: Certainty.SETTLED,
    PayoutState.REJECTED: Certainty.CONFIRMED_REJECTED,
    PayoutState.FAILED: Certainty.CONFIRMED_REJECTED,
}


def test_every_state_has_its_word():
    wrong = [
        state
        for state in PayoutState
        if certainty_of(replace(payout(), state=state)) is not WORDS[state]
    ]

    assert wrong == []


def test_what_failed_for_not_being_sent_was_not_sent():
    for code in FailureCode:
        failed = replace(payout(), state=PayoutState.FAILED, failure=Failure(code))

        word = certainty_of(failed)

        expected = Certainty.CONFIRMED_REJECTED
        assert word is (Certainty.NOT_SENT if code is FailureCode.NOT_SENT else expected)
