"""
Execution of orders that were approved: once, again where that is safe, and how each ended.

What is on record comes before what a call was answered: the row of a payout says how it stands.
Of a refund nothing is stored here, so a failed repetition proves nothing about the call before it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from gateway.approvals.money import Ended, MoneyOrders, Moved, outcome_of
from gateway.approvals.store import StoredApprovals
from gateway.audit.store import StoredAudit
from gateway.banks.port.provider_options import OutcomeUnknown
from gateway.banks.port.providers import Unreachable
from gateway.core import user_errors
from gateway.core.access import Staff
from gateway.core.approvals import (
    OPEN,
    Approval,
    ApprovalDocument,
    ApprovalKind,
    Executor,
    Outcome,
    why_void,
)
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
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
        Literal["processing", "paid", "failed", "done"],
        Meta(description="The state that it is in.", extra_json_schema={"example": "paid"}),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An approval after a decision, and the money it moved; None where none is to move."""

    approval: Approval
    moved: Moved | None

    def to_document(self, reader: Staff) -> MovedDocument:
        """Show both: a payout as processing, as its partner reads it, whatever the bank says."""
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
        executors: Of every kind that moves no money.
        text: Opens what was ordered.
    """

    store: StoredApprovals
    audit: StoredAudit
    users: StoredUsers
    money: MoneyOrders
    executors: Mapping[ApprovalKind, Executor]
    now: Now
    text: Callable[[Approval], str]

    async def void_reason(self, approval: Approval) -> str:
        """
        Look at who ordered it and at what is ordered, as both are by now.

        Returns:
            Why the order is void; empty while it holds.

        Raises:
            ServiceError: as for an order that is refused.
        """
        reason = why_void(await self.users.find(approval.ordered_by), approval)
        if not reason and approval.moves_money:
            await self.money.check_again(approval, self.text(approval))
        elif not reason:
            executor = self.executors[approval.kind]
            reason = await executor.check_again(approval, self.text(approval))
        return reason

    async def first(self, approval: Approval) -> Decided:
        """Carry out what has just been approved."""
        if approval.moves_money:
            return await self._move(approval)
        return Decided(approval=await self._administer(approval), moved=None)

    async def again(self, person: SignedInUser, approval: Approval) -> Decided:
        """
        Carry through what was approved before and has not ended, as far as that still holds.

        Whatever has come of it is looked up first. Only where nothing has, it is done: within the
        order's day, after the checks of the first time, and on record as this person's act.

        Raises:
            ServiceError: ``NOT_POSSIBLE`` when it was refused, is over, void or under way; as
                carrying it out does.
            OutcomeUnknown: a refund may have been given; its bank cannot tell now.
        """
        self._refuse_settled(approval)
        if not approval.moves_money:
            return await self._administer_again(person, approval)
        approval, found = await self._caught_up(approval)
        if found is not None:
            return Decided(approval=approval, moved=found)
        self._refuse_settled(approval)
        await self._allow_again(person, approval)
        return await self._move(approval, was_open=approval.outcome in OPEN)

    async def follow(self) -> int:
        """Note what became of payouts whose outcome is open; return how many."""
        now, told = self.now(), 0
        for each in await self.store.unsettled(now - _FOLLOWED, now - _CARRYING):
            ended = await self.money.on_record(each, self.text(each))
            if ended is not None:
                told += await self._conclude(each, ended) is not each
        return told

    def event(self, actor: str, word: str, approval: Approval) -> AuditEvent:
        """Describe what happened to an order; a reference may be personal and stays out."""
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
        """Refuse to repeat what was refused, or what is under way."""
        if approval.outcome is Outcome.REFUSED:
            raise not_possible(*DECIDED)
        began = approval.decided_at or approval.ordered_at
        if approval.outcome is Outcome.NONE and self.now() < began + _CARRYING:
            raise not_possible(*_UNDER_WAY)

    async def _caught_up(self, approval: Approval) -> tuple[Approval, Moved | None]:
        """
        Look up what has come of an order; None where nothing has, and it may be done.

        A payout that was proven unsent counts as nothing; what was given or paid is noted.
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
        """Check what is checked before an approval, and put this person's act on record."""
        if approval.outcome is Outcome.MOVED:
            raise not_possible(*DECIDED)
        if self.now() >= approval.ends_at:
            raise not_possible(*OVER)
        reason = await self.void_reason(approval)
        if reason:
            raise not_possible(_VOID, reason)
        await self.audit.append(self.event(person.actor, "repeated", approval))

    async def _move(self, approval: Approval, *, was_open: bool = False) -> Decided:
        """Move money that was agreed to, and note how that ended."""
        text = self.text(approval)
        try:
            moved = await self.money.carry_out(approval, text)
        except Exception as problem:
            told = outcome_of(problem)
            await self._note(approval, await self._ended(approval, told, was_open=was_open))
            raise
        ended = await self._ended(approval, self.money.ended(moved), was_open=was_open)
        return Decided(approval=await self._note(approval, ended), moved=moved)

    async def _ended(
        self, approval: Approval, told: Ended | None, *, was_open: bool
    ) -> Ended | None:
        """Say how an order stands after a call; what is on record goes before what was told."""
        if approval.kind is ApprovalKind.REFUND:
            is_proof = not was_open or (told is not None and told[0] is Outcome.MOVED)
            return told if is_proof else (Outcome.UNKNOWN, "")
        try:
            stands = await self.money.on_record(approval, self.text(approval))
        except StoreUnavailable:
            return (Outcome.UNKNOWN, "")
        if stands is None or (told is not None and told[0] is stands[0]):
            return told
        return stands

    async def _administer(self, approval: Approval) -> Approval:
        """Do what moves no money, and note how that ended; a secret is fetched later."""
        try:
            outcome = await self.executors[approval.kind].carry_out(approval, self.text(approval))
        except (RuleViolation, ServiceError):
            code = user_errors.NOT_POSSIBLE.code
            await self._conclude(approval, (Outcome.REFUSED, code))
            raise
        return await self._conclude(approval, (outcome, ""))

    async def _administer_again(self, person: SignedInUser, approval: Approval) -> Decided:
        """Do what a process that died left undone."""
        if approval.outcome is Outcome.NONE:
            await self._allow_again(person, approval)
            approval = await self._administer(approval)
        return Decided(approval=approval, moved=None)

    async def _note(self, approval: Approval, ended: Ended | None) -> Approval:
        """Note how money ended; a store that fails now hides nothing: it is followed up."""
        if ended is None:
            return approval
        try:
            return await self._conclude(approval, ended)
        except StoreUnavailable:
            _log.warning("the outcome of approval %s is not noted yet", approval.id)
            return approval

    async def _conclude(self, approval: Approval, ended: Ended) -> Approval:
        """Note an outcome; one that has ended stays as it is."""
        outcome, code = ended
        if outcome is approval.outcome or outcome is Outcome.NONE:
            return approval
        concluded = replace(approval, outcome=outcome, outcome_code=code)
        event = self.event("system", "concluded", concluded)
        noted = await self.store.conclude(concluded, event, approval.outcome)
        return concluded if noted else approval


def not_possible(reason: str, why: str) -> ServiceError:
    """Make the refusal of a decision; ``why`` is for people."""
    return ServiceError(user_errors.NOT_POSSIBLE, reason, detail=why)
