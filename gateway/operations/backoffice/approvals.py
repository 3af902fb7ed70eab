"""
Approvals: what one person orders is done when another person agrees.

What waits is no payout, no credential and no role yet: the partner does not see
it, and everything that may have changed since is checked again when it is
approved, whoever ordered it first of all. The partner's own payouts never come
this way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway.domain.accounts.accounts import Account
from gateway.domain.backoffice.approvals import (
    DECIDES,
    Approval,
    ApprovalKind,
    ApprovalReader,
    ApprovalSearch,
    ApprovalState,
    Outcome,
)
from gateway.domain.backoffice.approvals import Approvals as ApprovalStore
from gateway.domain.backoffice.money_orders import Order, kind_of, written
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.identity.users import Users
from gateway.domain.kernel import errors
from gateway.domain.kernel.audit import Audit
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.storage import AlreadyExists
from gateway.operations.backoffice.money_orders import MoneyOrders, Moved
from gateway.operations.backoffice.order_execution import (
    DECIDED,
    OVER,
    BackOfficeCarrier,
    Decided,
    OrderExecution,
    not_possible,
)

_OWN_ORDER = "Another person has to agree to an order of your own."
_ABOUT_ONESELF = "Another person has to agree to an order about you."
_VOID = ("void", "The order is void: see its reason.")
_MEANWHILE = ("meanwhile", "Somebody else has decided meanwhile.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalTerms:
    """
    When a person's order waits, and how it is kept.

    Attributes:
        above: Orders above it wait; zero lets every order wait, None none.
        new_id: Makes a UUID.
        seal, open: Encrypt a text for the row of an id, and decrypt it.
    """

    above: Money | None
    now: Now
    new_id: Callable[[], str]
    seal: Callable[[str, str], bytes]
    open: Callable[[bytes, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Takes orders of people, and decisions on them."""

    store: ApprovalStore
    audit: Audit
    users: Users
    money: MoneyOrders
    office: BackOfficeCarrier
    terms: ApprovalTerms

    async def order(self, person: SignedInUser, account: Account, order: Order) -> Moved | Approval:
        """
        Move money for a person, or let the order wait for another one.

        Safe to repeat: an order that was carried out is answered with what it moved.

        Raises:
            ServiceError: as moving it does, while payouts are stopped too;
                ``SVC.GTW.009`` when an order of this reference waits already.
        """
        if not self._waits(order):
            return await self.money.move(person.user_id, person.actor, account, order)
        known = await self.money.known(account, order)
        if known is not None:
            return known
        await self.money.check(person.user_id, account, order)
        return await self.wait(person, self._approval(person, account, order), written(order))

    async def wait(self, person: SignedInUser, wanted: Approval, text: str) -> Approval:
        """
        Let an order of a person wait; it is sealed here.

        Raises:
            ServiceError: ``SVC.GTW.009`` when one of its kind and subject waits already.
        """
        sealed = self.terms.seal(text, _bound(wanted.id))
        approval = replace(wanted, sealed_order=sealed)
        event = self._execution.event(person.actor, "ordered", approval)
        try:
            await self.store.add(approval, event)
        except AlreadyExists as problem:
            raise ServiceError(errors.ALREADY_IN_USE, "waiting") from problem
        return approval

    async def approve(self, person: SignedInUser, scope: CompanyScope, approval_id: str) -> Decided:
        """
        Agree, and carry the order out in the name of whoever ordered it.

        One decision holds, however many come at once. Safe to repeat: when the
        process died between the decision and the bank, any person who may
        approve carries it through. What the bank has refused is not asked again.

        Raises:
            ServiceError: ``FORBIDDEN`` for one's own order, or one about oneself;
                ``NOT_POSSIBLE`` when it was decided otherwise, is over or void; as
                carrying it out does, in which case the outcome is on record.
        """
        approval = await self.find(person, scope, approval_id)
        _refuse_own(person, approval)
        if approval.state is ApprovalState.APPROVED:
            return await self._execution.again(person, approval)
        self._refuse_over(approval)
        await self._look_again(person, approval)
        approval = await self._decide(person, approval, ApprovalState.APPROVED, "")
        return await self._execution.first(approval)

    async def reject(
        self, person: SignedInUser, scope: CompanyScope, approval_id: str, reason: str
    ) -> Approval:
        """Reject, or withdraw one's own order; ``reason`` stays on record."""
        approval = await self.find(person, scope, approval_id)
        self._refuse_over(approval)
        return await self._decide(person, approval, ApprovalState.REJECTED, reason)

    async def find(self, person: SignedInUser, scope: CompanyScope, approval_id: str) -> Approval:
        """Return one; ``NOT_FOUND`` also for one outside of the scope."""
        reader = ApprovalReader(scope, person.user_id)
        approval = await self.store.find(approval_id, reader)
        if approval is None:
            raise ServiceError(identity_errors.NOT_FOUND, "no_approval")
        return approval

    def text(self, approval: Approval) -> str:
        """Open what was ordered; whoever decides has to see where the money goes."""
        return self.terms.open(approval.sealed_order, _bound(approval.id))

    async def opens(self, person: SignedInUser, approval: Approval) -> bool:
        """
        Say whether a person reads a payout's recipient whole: whoever may still decide on it.

        It shows somebody's data, so it is recorded as an act.

        Raises:
            StoreUnavailable: it cannot be recorded.
        """
        is_open = approval.state is ApprovalState.WAITING or approval.outcome is Outcome.NOT_SENT
        decides = any(right.covers(DECIDES) for right in person.rights)
        if not is_open or not decides or approval.ordered_by == person.user_id:
            return False
        if approval.kind is ApprovalKind.PAYOUT:
            await self.audit.append(self._execution.event(person.actor, "read", approval))
        return True

    async def search(
        self, person: SignedInUser, scope: CompanyScope, search: ApprovalSearch
    ) -> tuple[Sequence[Approval], int]:
        """Return a page of those shown to a person, newest first, and how many there are."""
        return await self.store.search(search, ApprovalReader(scope, person.user_id))

    async def expire(self) -> int:
        """End those that nobody decided in time; return how many."""
        now = self.terms.now()
        overdue = await self.store.overdue(now)
        ended = 0
        for each in overdue:
            over = replace(each, state=ApprovalState.EXPIRED, decided_at=now)
            ended += await self.store.decide(over, self._execution.event("system", "expired", over))
        return ended + await self._execution.follow()

    @property
    def _execution(self) -> OrderExecution:
        """What carries approved orders out."""
        return OrderExecution(
            store=self.store,
            audit=self.audit,
            users=self.users,
            money=self.money,
            office=self.office,
            now=self.terms.now,
            text=self.text,
        )

    def _waits(self, order: Order) -> bool:
        above = self.terms.above
        return above is not None and order.value > above

    def _approval(self, person: SignedInUser, account: Account, order: Order) -> Approval:
        now = self.terms.now()
        return Approval(
            id=self.terms.new_id(),
            kind=kind_of(order),
            account_id=account.id,
            company_id=account.company_id,
            subject=account.id,
            reference=order.reference,
            value=order.value,
            sealed_order=b"",
            ordered_by=person.user_id,
            orderer=person.actor,
            ordered_at=now,
            ends_at=_midnight(now),
        )

    def _refuse_over(self, approval: Approval) -> None:
        """Refuse to decide what waits no more."""
        if approval.state is not ApprovalState.WAITING:
            raise not_possible(*DECIDED)
        if self.terms.now() >= approval.ends_at:
            raise not_possible(*OVER)

    async def _look_again(self, person: SignedInUser, approval: Approval) -> None:
        """
        Look at who ordered it and at what is ordered, as both are by now.

        Raises:
            ServiceError: ``NOT_POSSIBLE`` when it is void, which is noted; as for an order
                that is refused, in which case it waits on.
        """
        reason = await self._execution.void_reason(approval)
        if reason:
            await self._decide(person, approval, ApprovalState.VOID, reason)
            raise not_possible(*_VOID)

    async def _decide(
        self, person: SignedInUser, approval: Approval, state: ApprovalState, reason: str
    ) -> Approval:
        """Store a decision by compare-and-set."""
        decided = replace(
            approval,
            state=state,
            decided_by=person.user_id,
            decider=person.actor,
            decided_at=self.terms.now(),
            reason=reason,
        )
        event = self._execution.event(person.actor, state.value, decided)
        if not await self.store.decide(decided, event):
            raise not_possible(*_MEANWHILE)
        return decided


def _refuse_own(person: SignedInUser, approval: Approval) -> None:
    """Refuse one's own order, and one that gives oneself something."""
    if approval.ordered_by == person.user_id:
        raise ServiceError(identity_errors.FORBIDDEN, "own_order", detail=_OWN_ORDER)
    if approval.subject == person.user_id:
        raise ServiceError(identity_errors.FORBIDDEN, "about_oneself", detail=_ABOUT_ONESELF)


def _midnight(now: datetime) -> datetime:
    """Return the end of the UTC day: a payout is made on the day it is dated."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def _bound(approval_id: str) -> str:
    """Name the row an order is sealed for."""
    return f"approval:{approval_id}"
