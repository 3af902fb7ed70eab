"""Approvals: what one person orders waits until another person agrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.domain.money import Money


class ApprovalKind(StrEnum):
    """What is ordered."""

    PAYOUT = "payout"
    REFUND = "refund"


class ApprovalState(StrEnum):
    """Where it stands; all but ``waiting`` are final."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """
    An order that waits, or what became of it. It is no payout yet: no partner sees it.

    Attributes:
        id: A lower-case UUID.
        reference: The order's own; one order of an account waits under it.
        sealed_order: The whole order as JSON, encrypted with the id bound to it.
        ordered_by: The user id; ``orderer`` is how the audit log names them.
        ends_at: Nobody may approve it from then on.
        decided_by, decider: Likewise; empty while it waits.
    """

    id: str
    kind: ApprovalKind
    account_id: str
    company_id: str
    reference: str
    value: Money
    sealed_order: bytes = field(repr=False)
    ordered_by: str
    orderer: str
    ordered_at: datetime
    ends_at: datetime
    state: ApprovalState = ApprovalState.WAITING
    decided_by: str = ""
    decider: str = ""
    decided_at: datetime | None = None
    reason: str = ""
