"""How certain the outcome of a payout is: one word for operators."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.payouts.payouts import Payout, PayoutState


class Certainty(StrEnum):
    """
    What is proven.

    NOT_SENT: nothing moved, and no attempt so far can move anything.
    SENT_UNKNOWN: it may have left us; nobody knows yet.
    CONFIRMED_REJECTED: the bank, or two people, said that it did not pay.
    CONFIRMED_ACCEPTED: the bank has ordered it.
    SETTLED: the money arrived.
    """

    NOT_SENT = "not_sent"
    SENT_UNKNOWN = "sent_unknown"
    CONFIRMED_REJECTED = "confirmed_rejected"
    CONFIRMED_ACCEPTED = "confirmed_accepted"
    SETTLED = "settled"


_OF: Final[Mapping[PayoutState, Certainty]] = {
    PayoutState.SENDING: Certainty.SENT_UNKNOWN,
    PayoutState.UNKNOWN: Certainty.SENT_UNKNOWN,
    PayoutState.NOT_SENT: Certainty.NOT_SENT,
    PayoutState.ACCEPTED: Certainty.CONFIRMED_ACCEPTED,
    PayoutState.PAID: Certainty.SETTLED,
    PayoutState.REJECTED: Certainty.CONFIRMED_REJECTED,
    PayoutState.FAILED: Certainty.CONFIRMED_REJECTED,
}


def certainty_of(payout: Payout) -> Certainty:
    """Return the word; one that failed for never having been sent was not sent."""
    failure = payout.failure
    if payout.state is PayoutState.FAILED and failure and failure.code is FailureCode.NOT_SENT:
        return Certainty.NOT_SENT
    return _OF[payout.state]
