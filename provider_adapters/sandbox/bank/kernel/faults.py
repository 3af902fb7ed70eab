"""Injected faults: what the bank is told to do wrong, and how often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

OPERATIONS = (
    "balance",
    "statement",
    "keys",
    "charge",
    "payment",
    "payout",
    "payout_read",
    "refund",
    "refund_read",
    "*",
)
"""What a fault may be injected into; ``*`` is everything."""


class FaultKind(StrEnum):
    """The ways to fail; the sandbox README says what each looks like."""

    REFUSE = "refuse"
    REJECT = "reject"
    HANG = "hang"
    HANG_AFTER = "hang_after"
    RESET_BEFORE = "reset_before"
    RESET_AFTER = "reset_after"
    DRIP = "drip"
    STATUS = "status"
    MALFORMED = "malformed"
    WRONG_TYPES = "wrong_types"
    HUGE = "huge"


_NOT_EXECUTED = (FaultKind.REFUSE, FaultKind.REJECT, FaultKind.HANG, FaultKind.RESET_BEFORE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    One fault as injected.

    Attributes:
        count: How many requests it still hits; None is until cleared. For
            ``refuse``: seconds.
        status: The status ``status`` answers with.
        executed: Whether ``status`` executes before answering.
    """

    fault: FaultKind
    operation: str = "*"
    status: int = 500
    count: int | None = 1
    executed: bool = False

    @property
    def executes(self) -> bool:
        """Whether the request is carried out, whatever the caller sees."""
        if self.fault is FaultKind.STATUS:
            return self.executed
        return self.fault not in _NOT_EXECUTED


class Faults:
    """The faults waiting for requests, in memory only, in order of injection."""

    def __init__(self) -> None:
        """Begin with a bank that works."""
        self._waiting: list[Fault] = []

    def inject(self, fault: Fault) -> None:
        """Let a fault wait for its requests."""
        self._waiting.append(fault)

    def waiting(self) -> tuple[Fault, ...]:
        """Tell what is still to come."""
        return tuple(self._waiting)

    def clear(self) -> int:
        """Forget all and tell how many there were."""
        cleared = len(self._waiting)
        self._waiting.clear()
        return cleared

    def take(self, operation: str) -> Fault | None:
        """Give the first fault that hits this request, and count it."""
        for place, fault in enumerate(self._waiting):
            if fault.operation in ("*", operation):
                self._use(place, fault)
                return fault
        return None

    def _use(self, place: int, fault: Fault) -> None:
        if fault.count is None:
            return
        if fault.count > 1:
            self._waiting[place] = replace(fault, count=fault.count - 1)
        else:
            del self._waiting[place]
