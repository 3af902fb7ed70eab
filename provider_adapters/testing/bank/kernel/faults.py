"""Injected faults: what the bank is to do wrong, and how often."""

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
    "callbacks",
    "access",
    "*",
)
"""The operations a fault can be injected into; ``*`` is all of them."""


class FaultKind(StrEnum):
    """The ways to fail; the README describes each."""

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
        count: How many requests it still affects; None until it is cleared.
            For ``refuse``: seconds.
        status: The status of the answer, for ``status``.
        executed: Whether the request is executed before that answer.
    """

    fault: FaultKind
    operation: str = "*"
    status: int = 500
    count: int | None = 1
    executed: bool = False

    @property
    def executes(self) -> bool:
        """Whether the request is executed, whatever its caller gets."""
        if self.fault is FaultKind.STATUS:
            return self.executed
        return self.fault not in _NOT_EXECUTED


class Faults(list[Fault]):
    """The faults that wait for requests, in order of injection; in memory only."""

    def take(self, operation: str) -> Fault | None:
        """Return the fault for this request, if any, and count it down."""
        for place, fault in enumerate(self):
            if fault.operation in ("*", operation):
                if fault.count is not None:
                    left = replace(fault, count=fault.count - 1)
                    self[place : place + 1] = [left] if left.count else []
                return fault
        return None
