"""How a payout stands, for callers (contract part 3), and how certain that is, for operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.kernel.windows import Search
from gateway.domain.payouts.payouts import Payout, PayoutState


class PayoutStatus(StrEnum):
    """What a caller sees; ``processing`` until it is certain how it ended."""

    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"


_ENDED: Mapping[PayoutState, PayoutStatus] = {
    PayoutState.PAID: PayoutStatus.PAID,
    PayoutState.REJECTED: PayoutStatus.FAILED,
    PayoutState.FAILED: PayoutStatus.FAILED,
}


_STATES: Mapping[PayoutStatus, frozenset[PayoutState]] = {
    status: frozenset(
        state for state in PayoutState if _ENDED.get(state, PayoutStatus.PROCESSING) is status
    )
    for status in PayoutStatus
}


def states_of(status: PayoutStatus) -> frozenset[PayoutState]:
    """Name the states that a caller sees as a status."""
    return _STATES[status]


def status_of(state: PayoutState) -> PayoutStatus:
    """Say what a caller sees of a state."""
    return _ENDED.get(state, PayoutStatus.PROCESSING)


@dataclass(frozen=True, slots=True)
class PayoutSearch:
    """Which payouts are asked for, by the day they were created; None is every status."""

    search: Search
    status: PayoutStatus | None = None


class Certainty(StrEnum):
    """
    What is proven.

    NOT_SENT: nothing moved, and no attempt so far can move anything.
    SENT_UNKNOWN: it may have left us; nobody knows yet.
    CONFIRMED_REJECTED: the bank, or two users, said that it did not pay.
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


def certainty_of_state(state: PayoutState) -> Certainty:
    """Return the word for a state, where nothing is known of why a payout failed."""
    return _OF[state]


def certainty_when(state: PayoutState, *, never_sent: bool) -> Certainty:
    """Return the word for a state; one that failed for never having been sent was not sent."""
    return Certainty.NOT_SENT if state is PayoutState.FAILED and never_sent else _OF[state]


def certainty_of(payout: Payout) -> Certainty:
    """Return the word for a payout; see ``certainty_when``."""
    failure = payout.failure
    never_sent = failure is not None and failure.code is FailureCode.NOT_SENT
    return certainty_when(payout.state, never_sent=never_sent)
