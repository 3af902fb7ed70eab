"""
Executes approved orders once, repeats them where that is safe, and stores the outcomes.

Our record takes precedence over the answer to a call: the payout's row holds its state. Refunds are
not stored here, so a failed repetition proves nothing about the call before it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Literal, TypedDict

from gateway.approvals.money import Ended, MoneyOrders, Moved, outcome_of
from gateway.approvals.store import StoredApprovals
from gateway.audit.store import StoredAudit
from gateway.banks.port.providers import OutcomeUnknown, Unreachable
from gateway.core import user_errors
from gateway.core.access import Staff
from gateway.core.approvals import (
    OPEN,
    Approval,
    ApprovalDocument,
    ApprovalKind,
    Executor,
    Outcome,
    VoidReason,
    why_void,
)
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.sessions import SignedInUser
from gateway.core.storage import StoreUnavailable
from gateway.identity.store import StoredUsers
from gateway.payouts.model import Payout

_log = logging.getLogger(__name__)

DECIDED = ("decided", "The order was decided already.")
OVER = ("over", "The time to decide on the order is over.")
_UNDER_WAY = ("under_way", "The order is being carried out.")

_VOID = "void"

_CARRYING = timedelta(minutes=1)
"""How long one process has to carry an order out before another one may."""

_FOLLOWED = timedelta(days=3)
"""How far back open outcomes are looked at: the books have closed long before."""


class MovedDocument(TypedDict):
    """The money that a decision moved."""

    approval: ApprovalDocument
    status: Annotated[
        Literal["processing", "paid", "failed", "done"], meaning("The state that it is in.", "paid")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An approval after a decision, and the money it moved; None if no money moved."""

    approval: Approval
    moved: Moved | None

    def to_document(self, reader: Staff) -> MovedDocument:
        """
        Return both documents; a payout as processing, even if the bank has answered.

        A partner reads a new payout in the same way.
        """
        shown = self.approval.to_document(reader)
        if self.moved is None:
            return {"approval": shown, "status": "done"}
        if isinstance(self.moved, Payout):
            return {"approval": shown, "status": "processing"}
        return {"approval": shown, "status": self.moved.status.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderExecution:
    """
    Carries approved orders out and notes their outcomes.

    Attributes:
        executors: The executor of every kind of order but payouts and refunds.
        text: Decrypts the order.
    """

    store: StoredApprovals
    audit: StoredAudit
    users: StoredUsers
    money: MoneyOrders
    executors: Mapping[ApprovalKind, Executor]
    now: Now
    text: Callable[[Approval], str]

    async def void_reason(self, approval: Approval) -> VoidReason:
        """
        Check the user who gave the order and the order itself, both as of now.

        Returns:
            Why the order is void; NONE while it holds.

        Raises:
            ServiceError: as for an order that is refused.
        """
        reason = why_void(await self.users.find(approval.ordered_by), approval)
        if reason:
            return reason
        executor = self.executors.get(approval.kind)
        if executor is not None:
            return await executor.check_again(approval, self.text(approval))
        await self.money.check_again(approval, self.text(approval))
        return VoidReason.NONE

    async def first(self, approval: Approval) -> Decided:
        """Execute an order that has just been approved."""
        if approval.kind in self.executors:
            return Decided(approval=await self._administer(approval), moved=None)
        return await self._move(approval)

    async def again(self, person: SignedInUser, approval: Approval) -> Decided:
        """
        Execute an order that was approved earlier and has not ended, if it still holds.

        Its result is looked up first. Only an order without a result is executed: within the
        order's day, after the same checks as at first, and recorded as this person's act.

        Raises:
            ServiceError: ``NOT_POSSIBLE`` when it was refused, is over, void or under way; as
                its execution.
            OutcomeUnknown: a refund may have been given; its bank does not answer now.
        """
        self._refuse_settled(approval)
        if approval.kind in self.executors:
            return await self._administer_again(person, approval)
        approval, found = await self._caught_up(approval)
        if found is not None:
            return Decided(approval=approval, moved=found)
        self._refuse_settled(approval)
        await self._allow_again(person, approval)
        return await self._move(approval, was_open=approval.outcome in OPEN)

    async def follow(self) -> int:
        """Store the outcomes of open payouts; return how many."""
        now, concluded = self.now(), 0
        for each in await self.store.unsettled(now - _FOLLOWED, now - _CARRYING):
            ended = await self.money.on_record(each, self.text(each))
            if ended is not None:
                concluded += await self._conclude(each, ended) is not each
        return concluded

    def event(self, actor: str, word: str, approval: Approval) -> AuditEvent:
        """Build an order's audit event, without its reference, which may be personal."""
        details = {"kind": approval.kind.value}
        if approval.moves_money:
            details |= {"account": approval.account_id or "", "value": str(approval.value)}
        else:
            details["subject"] = approval.subject
        if approval.reason:
            details["reason"] = approval.reason
        if approval.outcome:
            details["outcome"] = approval.outcome.value
        return AuditContext(actor, self.now).event(
            f"approval.{word}", f"approval:{approval.id}", details
        )

    def _refuse_settled(self, approval: Approval) -> None:
        """Refuse to repeat an order that was refused or is under way."""
        if approval.outcome is Outcome.REFUSED:
            raise not_possible(*DECIDED)
        began = approval.decided_at or approval.ordered_at
        if approval.outcome is Outcome.NONE and self.now() < began + _CARRYING:
            raise not_possible(*_UNDER_WAY)

    async def _caught_up(self, approval: Approval) -> tuple[Approval, Moved | None]:
        """
        Look up the result of an order; None if there is none and the order may be executed.

        A payout that was proven unsent is no result; an executed refund or payout is stored.
        """
        text = self.text(approval)
        try:
            found = await self.money.found(approval, text)
        except Unreachable as problem:
            if approval.outcome not in OPEN:
                raise
            await self._note(approval, (Outcome.UNKNOWN, ""))
            raise OutcomeUnknown(problem.reason) from problem
        if found is None:
            return approval, None
        ended = self.money.ended(found)
        approval = await self._note(approval, ended)
        return approval, None if ended[0] in {Outcome.NOT_SENT, Outcome.REFUSED} else found

    async def _allow_again(self, person: SignedInUser, approval: Approval) -> None:
        """Repeat the checks made before an approval, and record this person's act."""
        if approval.outcome is Outcome.MOVED:
            raise not_possible(*DECIDED)
        if self.now() >= approval.ends_at:
            raise not_possible(*OVER)
        reason = await self.void_reason(approval)
        if reason:
            raise not_possible(_VOID, reason)
        await self.audit.append(self.event(person.actor, "repeated", approval))

    async def _move(self, approval: Approval, *, was_open: bool = False) -> Decided:
        """Move approved money, and store the outcome."""
        text = self.text(approval)
        try:
            moved = await self.money.carry_out(approval, text)
        except Exception as problem:
            ending = outcome_of(problem)
            await self._note(approval, await self._ended(approval, ending, was_open=was_open))
            raise
        ended = await self._ended(approval, self.money.ended(moved), was_open=was_open)
        return Decided(approval=await self._note(approval, ended), moved=moved)

    async def _ended(
        self, approval: Approval, ending: Ended | None, *, was_open: bool
    ) -> Ended | None:
        """Return an order's state after a call; our record precedes the answer."""
        if approval.kind is ApprovalKind.REFUND:
            is_proof = not was_open or (ending is not None and ending[0] is Outcome.MOVED)
            return ending if is_proof else (Outcome.UNKNOWN, "")
        try:
            stands = await self.money.on_record(approval, self.text(approval))
        except StoreUnavailable:
            return (Outcome.UNKNOWN, "")
        if stands is None or (ending is not None and ending[0] is stands[0]):
            return ending
        return stands

    async def _administer(self, approval: Approval) -> Approval:
        """Execute an order that moves no money, and store its outcome; a secret comes later."""
        try:
            outcome = await self.executors[approval.kind].carry_out(approval, self.text(approval))
        except (RuleViolation, ServiceError):
            code = user_errors.NOT_POSSIBLE.code
            await self._conclude(approval, (Outcome.REFUSED, code))
            raise
        return await self._conclude(approval, (outcome, ""))

    async def _administer_again(self, person: SignedInUser, approval: Approval) -> Decided:
        """Execute an order that a crashed process left undone."""
        if approval.outcome is Outcome.NONE:
            await self._allow_again(person, approval)
            approval = await self._administer(approval)
        return Decided(approval=approval, moved=None)

    async def _note(self, approval: Approval, ended: Ended | None) -> Approval:
        """Store the outcome of money; if the store fails now, the follow-up stores it later."""
        if ended is None:
            return approval
        try:
            return await self._conclude(approval, ended)
        except StoreUnavailable:
            _log.warning("the outcome of approval %s is not noted yet", approval.id)
            return approval

    async def _conclude(self, approval: Approval, ended: Ended) -> Approval:
        """Store an outcome; an ended order stays as it is."""
        outcome, code = ended
        if outcome is approval.outcome or outcome is Outcome.NONE:
            return approval
        concluded = replace(approval, outcome=outcome, outcome_code=code)
        event = self.event("system", "concluded", concluded)
        noted = await self.store.conclude(concluded, event, approval.outcome)
        return concluded if noted else approval


def not_possible(reason: str, why: str) -> ServiceError:
    """Build the refusal of a decision; ``why`` is for people."""
    return ServiceError(user_errors.NOT_POSSIBLE, reason, detail=why)
