"""Approvals: what one person orders waits until another person agrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from gateway.domain.accounts import SecretDigest
from gateway.domain.money import Money
from gateway.domain.people import User
from gateway.domain.permissions import Action
from gateway.domain.rights import Area, Right, rights_of

COLLECTED_WITHIN: Final = timedelta(minutes=15)
"""After the approval: long enough to fetch a secret at once, too short to forget about it."""


NO_MONEY: Final = Money(0)
"""Of an order that moves none."""


class ApprovalKind(StrEnum):
    """What is ordered."""

    PAYOUT = "payout"
    REFUND = "refund"
    CREDENTIAL_ISSUE = "credential_issue"
    CREDENTIAL_ROTATION = "credential_rotation"
    CREDENTIAL_LIMITS = "credential_limits"
    INVITATION = "invitation"
    ROLES = "roles"
    FACTOR_RESET = "factor_reset"


NEEDED: Final[Mapping[ApprovalKind, Right]] = {
    ApprovalKind.PAYOUT: Right(Area.PAYOUT, Action.WRITE),
    ApprovalKind.REFUND: Right(Area.REFUND, Action.WRITE),
    ApprovalKind.CREDENTIAL_ISSUE: Right(Area.CREDENTIAL, Action.WRITE),
    ApprovalKind.CREDENTIAL_ROTATION: Right(Area.CREDENTIAL, Action.WRITE),
    ApprovalKind.CREDENTIAL_LIMITS: Right(Area.CREDENTIAL, Action.WRITE),
    ApprovalKind.INVITATION: Right(Area.USER, Action.MANAGE),
    ApprovalKind.ROLES: Right(Area.USER, Action.MANAGE),
    ApprovalKind.FACTOR_RESET: Right(Area.USER, Action.MANAGE),
}
"""The right to order each kind; who has lost it has ordered nothing any more."""

WITH_SECRET: Final = frozenset({ApprovalKind.CREDENTIAL_ISSUE, ApprovalKind.CREDENTIAL_ROTATION})
"""Carried out when whoever ordered it fetches the secret."""


class ApprovalState(StrEnum):
    """Where it stands; all but ``waiting`` are final."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    VOID = "void"


class Outcome(StrEnum):
    """
    What became of an order that was approved.

    NONE: It was not approved, is being carried out, or its secret was not fetched.
    DONE: It was carried out; nothing of it moves money.
    MOVED: The bank has taken the order, or has paid.
    REFUSED: Nothing moved, and nothing will; the code says why.
    NOT_SENT: Certainly nothing moved; approving it again tries again.
    UNKNOWN: Money may have moved; it is looked up.
    """

    NONE = ""
    DONE = "done"
    MOVED = "moved"
    REFUSED = "refused"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"


ENDED: Final = frozenset({Outcome.DONE, Outcome.MOVED, Outcome.REFUSED})
"""Outcomes that no repetition changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """
    An order that waits, or what became of it. It is no payout yet: no partner sees it.

    Attributes:
        id: A lower-case UUID.
        account_id: Empty where no account is meant.
        company_id: Empty where several companies or all are: only people without limits see it.
        subject: What it is about: an account, a credential, a person.
        reference: The order's own; one order of a kind and subject waits under it.
        value: Zero where no money moves.
        sealed_order: The whole order as JSON, encrypted with the id bound to it.
        ordered_by: The user id; ``orderer`` is how the audit log names them.
        ends_at: Nobody may approve it from then on.
        decided_by, decider: Likewise; empty while it waits.
        reason: Why it was rejected, or is void.
        outcome_code: The public code of a refusal.
        collected_at: When its secret was fetched.
    """

    id: str
    kind: ApprovalKind
    account_id: str = ""
    company_id: str = ""
    subject: str
    reference: str = ""
    value: Money = NO_MONEY
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
    outcome: Outcome = Outcome.NONE
    outcome_code: str = ""
    collected_at: datetime | None = None

    @property
    def moves_money(self) -> bool:
        """Say whether it is a payout or a refund."""
        return self.kind in {ApprovalKind.PAYOUT, ApprovalKind.REFUND}

    @property
    def collected_until(self) -> datetime | None:
        """Say until when its secret can be fetched; None where there is none to fetch."""
        wanted = self.state is ApprovalState.APPROVED and self.kind in WITH_SECRET
        if not wanted or self.decided_at is None or self.collected_at is not None:
            return None
        return self.decided_at + COLLECTED_WITHIN


@dataclass(frozen=True, slots=True)
class SecretCollection:
    """
    The one fetching of an approved order's secret.

    Attributes:
        approved_after: It holds only if the order was approved later than that.
    """

    approval_id: str
    at: datetime

    @property
    def approved_after(self) -> datetime:
        """The earliest approval that can still be fetched for."""
        return self.at - COLLECTED_WITHIN


@dataclass(frozen=True, slots=True)
class Rotation:
    """
    A new secret of a credential.

    Attributes:
        old_ends: When the one before it ends.
        collection: The order it is the outcome of; None where nobody had to agree.
    """

    new: SecretDigest
    old_ends: datetime
    collection: SecretCollection | None = None


def why_void(orderer: User | None, approval: Approval) -> str:
    """Say why an order does not hold any more; empty while its orderer may still order it."""
    if orderer is None or not orderer.active:
        return "Who ordered it was disabled."
    if not any(right.covers(NEEDED[approval.kind]) for right in rights_of(orderer.roles)):
        return "Who ordered it may not order this any more."
    limit = orderer.companies
    if limit and approval.company_id and approval.company_id not in limit:
        return "Who ordered it does not see the company any more."
    return ""
