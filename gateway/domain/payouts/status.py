"""How a payout stands in the three words that callers see (contract part 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gateway.domain.kernel.windows import Search
from gateway.domain.payouts.payouts import PayoutState


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
