"""How a payout stands, for callers (contract part 3), and how certain that is, for operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.banks.port.payout_orders import FailureCode
from gateway.core.windows import Search
from gateway.payouts.model import Absence, Payout, PayoutState


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

    NOT_SENT: no byte of it has left us, so nothing moved.
    NOT_EXECUTED: it may have left us, and the bank does not have it, or answered that it executed
        nothing: nothing moved.
    SENT_UNKNOWN: it may have left us; nobody knows yet.
    CONFIRMED_REJECTED: the bank said that it did not pay, or two users did after it had accepted.
    DECIDED_UNPAID: two users found no payment; the bank has never said that it had the order.
    CONFIRMED_ACCEPTED: the bank has ordered it.
    SETTLED: the money arrived.

    Of the first two, no attempt so far can move anything any more.
    """

    NOT_SENT = "not_sent"
    NOT_EXECUTED = "not_executed"
    SENT_UNKNOWN = "sent_unknown"
    CONFIRMED_REJECTED = "confirmed_rejected"
    DECIDED_UNPAID = "decided_unpaid"
    CONFIRMED_ACCEPTED = "confirmed_accepted"
    SETTLED = "settled"


class CertaintySought(StrEnum):
    """
    What a search asks to be proven.

    NOT_SENT finds ``not_sent`` and ``not_executed``, and CONFIRMED_REJECTED finds
    ``confirmed_rejected`` and ``decided_unpaid``, as they did when each had one word. NEVER_SENT
    and BANK_REJECTED find the first of each pair alone. Every other finds the word of its name.
    """

    NOT_SENT = "not_sent"
    NEVER_SENT = "never_sent"
    NOT_EXECUTED = "not_executed"
    SENT_UNKNOWN = "sent_unknown"
    CONFIRMED_REJECTED = "confirmed_rejected"
    BANK_REJECTED = "bank_rejected"
    DECIDED_UNPAID = "decided_unpaid"
    CONFIRMED_ACCEPTED = "confirmed_accepted"
    SETTLED = "settled"

    @property
    def words(self) -> frozenset[Certainty]:
        """Return what fits."""
        return _FOUND_BY.get(self) or frozenset({Certainty(self.value)})


UNSENT: Final = frozenset({Certainty.NOT_SENT, Certainty.NOT_EXECUTED})
"""What moved nothing and may be ordered again on its day."""

_FOUND_BY: Final[Mapping[CertaintySought, frozenset[Certainty]]] = {
    CertaintySought.NOT_SENT: UNSENT,
    CertaintySought.NEVER_SENT: frozenset({Certainty.NOT_SENT}),
    CertaintySought.CONFIRMED_REJECTED: frozenset(
        {Certainty.CONFIRMED_REJECTED, Certainty.DECIDED_UNPAID}
    ),
    CertaintySought.BANK_REJECTED: frozenset({Certainty.CONFIRMED_REJECTED}),
}


_OF: Final[Mapping[PayoutState, Certainty]] = {
    PayoutState.SENDING: Certainty.SENT_UNKNOWN,
    PayoutState.UNKNOWN: Certainty.SENT_UNKNOWN,
    PayoutState.NOT_SENT: Certainty.NOT_SENT,
    PayoutState.ACCEPTED: Certainty.CONFIRMED_ACCEPTED,
    PayoutState.PAID: Certainty.SETTLED,
    PayoutState.REJECTED: Certainty.CONFIRMED_REJECTED,
    PayoutState.FAILED: Certainty.CONFIRMED_REJECTED,
}


def certainty_when(
    state: PayoutState, failure: FailureCode | None, absence: Absence | None
) -> Certainty:
    """Return the word for a state, for why it failed, and for who proves that nothing moved."""
    is_failed = state is PayoutState.FAILED
    if is_failed and absence is Absence.PEOPLE:
        return Certainty.DECIDED_UNPAID
    if state is not PayoutState.NOT_SENT and not (is_failed and failure is FailureCode.NOT_SENT):
        return _OF[state]
    return Certainty.NOT_EXECUTED if absence is Absence.BANK else Certainty.NOT_SENT


def certainty_of(payout: Payout) -> Certainty:
    """Return the word for a payout; see ``certainty_when``."""
    failure = payout.failure.code if payout.failure else None
    return certainty_when(payout.state, failure, payout.absence)
