"""A look at a bank: what it said of a payout is told as an event where it moved nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gateway.banks.port.outcomes import known_reason
from gateway.banks.port.provider_reasons import Reason
from gateway.banks.port.providers import (
    Accepted,
    Outcome,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.clocks import Now
from gateway.payouts.events import Fact, PayoutEvent, evidence_facts, move_facts, probed
from gateway.payouts.model import Payout

Hear = Callable[[PayoutEvent], None]
"""Is told what a bank said of a payout where that moved nothing; a step tells of itself."""

_FOUND: Final = {
    Settled: "settled",
    Accepted: "accepted",
    Rejected: "rejected",
    Unknown: "unknown",
}


def unheard(_event: PayoutEvent) -> None:
    """Ignore what a bank said."""


@dataclass(frozen=True, slots=True)
class Look:
    """One question to a bank about a payout; each answer returns the payout as it stands then."""

    payout: Payout
    asked_at: datetime
    now: Now
    hear: Hear

    def not_found(self) -> Payout:
        """Tell that the bank does not know it, which proves nothing yet."""
        return self._told("not_found", {})

    def failed(self, problem: Exception) -> Payout:
        """Tell that there was no answer, and why in a word of ours."""
        if isinstance(problem, ProviderError):
            facts: dict[str, Fact] = {"reason": known_reason(problem.reason)}
            if problem.http_status is not None:
                facts["http_status"] = problem.http_status
            return self._told("no_answer", facts)
        lost = isinstance(problem, TimeoutError)
        reason = Reason.TIMEOUT if lost else Reason.ADAPTER_RAISED
        return self._told("no_answer", {"reason": reason.value})

    def proved_nothing(self, said: Outcome) -> Payout:
        """Tell of an answer that is no step."""
        return self._told(_FOUND.get(type(said), "unknown"), evidence_facts(said.evidence))

    def contradicted(self, said: Outcome) -> Payout:
        """Tell of an answer that differs from the order: people decide."""
        facts = evidence_facts(said.evidence) | {"review": True}
        if isinstance(said, Settled):
            facts |= move_facts(said, self.payout.value)
        self._told(_FOUND.get(type(said), "unknown"), facts)
        return replace(self.payout, review=True)

    def _told(self, found: str, facts: dict[str, Fact]) -> Payout:
        self.hear(probed(self.payout, found, self.asked_at, self.now(), facts))
        return self.payout
