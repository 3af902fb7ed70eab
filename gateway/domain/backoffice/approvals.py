"""Approvals: what one user orders waits until another user approves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from gateway.domain.accounts.credentials import COLLECTED_WITHIN, Action
from gateway.domain.identity.rights import Area, Right, rights_of
from gateway.domain.identity.users import User
from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.company_scope import CompanyScope, scope_of
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging

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
    COMPANIES = "companies"
    ENABLING = "enabling"
    FACTOR_RESET = "factor_reset"
    ACCOUNT_BANK = "account_bank"


NEEDED: Final[Mapping[ApprovalKind, Right]] = {
    ApprovalKind.PAYOUT: Right(Area.PAYOUT, Action.WRITE),
    ApprovalKind.REFUND: Right(Area.REFUND, Action.WRITE),
    ApprovalKind.CREDENTIAL_ISSUE: Right(Area.CREDENTIAL, Action.WRITE),
    ApprovalKind.CREDENTIAL_ROTATION: Right(Area.CREDENTIAL, Action.WRITE),
    ApprovalKind.CREDENTIAL_LIMITS: Right(Area.CREDENTIAL, Action.WRITE),
    ApprovalKind.INVITATION: Right(Area.USER, Action.MANAGE),
    ApprovalKind.ROLES: Right(Area.USER, Action.MANAGE),
    ApprovalKind.COMPANIES: Right(Area.USER, Action.MANAGE),
    ApprovalKind.ENABLING: Right(Area.USER, Action.MANAGE),
    ApprovalKind.FACTOR_RESET: Right(Area.USER, Action.MANAGE),
    ApprovalKind.ACCOUNT_BANK: Right(Area.PROVIDER, Action.WRITE),
}
"""The right to order each kind; who has lost it has ordered nothing any more."""


DECIDES: Final = Right(Area.APPROVAL, Action.WRITE)
"""The right to decide on orders of others."""


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


OPEN: Final = frozenset({Outcome.NONE, Outcome.UNKNOWN})
"""Outcomes of approved orders that may have moved money: no failed repetition closes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """
    An order that waits for approval, or its result. It is not a payout yet: no partner sees it.

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


def why_void(orderer: User | None, approval: Approval) -> str:
    """Say why an order does not hold any more; empty while its orderer may still order it."""
    if orderer is None or not orderer.active:
        return "Who ordered it was disabled."
    if not any(right.covers(NEEDED[approval.kind]) for right in rights_of(orderer.roles)):
        return "Who ordered it may not order this any more."
    if approval.company_id and not scope_of(orderer.companies).includes(approval.company_id):
        return "Who ordered it does not see the company any more."
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSearch:
    """
    Which approvals.

    Attributes:
        state: None for all.
    """

    paging: Paging
    state: ApprovalState | None = None


@dataclass(frozen=True, slots=True)
class ApprovalReader:
    """
    Who reads orders: those of companies in scope, and those of one's own of no company.

    Attributes:
        user_id: Of the reader.
    """

    scope: CompanyScope
    user_id: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many orders wait, and since when the oldest does; None when there is none."""

    count: int
    oldest_at: datetime | None


class Approvals(Protocol):
    """Orders that wait for another person."""

    async def add(self, approval: Approval, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when one of its kind, subject and reference waits."""
        ...

    async def find(self, approval_id: str, reader: ApprovalReader) -> Approval | None:
        """Return one that the reader may see."""
        ...

    async def people_of(self, account_id: str, reference: str) -> frozenset[str]:
        """Return the ids of the users who ordered and who approved a payout."""
        ...

    async def search(
        self, search: ApprovalSearch, reader: ApprovalReader
    ) -> tuple[Sequence[Approval], int]:
        """Return a page of what the reader may see, newest first, and how many there are."""
        ...

    async def decide(self, decided: Approval, event: AuditEvent) -> bool:
        """Store the decision by compare-and-set; False when it waits no more."""
        ...

    async def conclude(self, concluded: Approval, event: AuditEvent, before: Outcome) -> bool:
        """
        Store the outcome of one that was approved, where it was ``before``.

        That money moved is stored whatever was noted meanwhile, unless that has ended.

        Returns:
            False when nothing was stored.
        """
        ...

    async def unsettled(self, since: datetime, until: datetime) -> Sequence[Approval]:
        """
        Return payouts whose outcome is open, oldest first, at most a hundred.

        They were ordered since; those that have no outcome were decided ``until`` then.
        """
        ...

    async def overdue(self, now: datetime) -> Sequence[Approval]:
        """Return those that wait past their end, at most a hundred."""
        ...

    async def waiting(self, now: datetime) -> Waiting:
        """Count those that can still be decided."""
        ...
