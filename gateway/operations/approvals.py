"""
Approvals: money ordered by one person moves when another person agrees.

What waits is no payout yet: the partner does not see it, and everything that
may have changed since is checked again when it is approved. The partner's own
payouts never come this way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gateway.domain import errors, identity_errors
from gateway.domain.accounts import Account, Principal
from gateway.domain.approvals import Approval, ApprovalKind, ApprovalState
from gateway.domain.calls import Caller
from gateway.domain.clocks import Now
from gateway.domain.errors import ServiceError
from gateway.domain.money import Money
from gateway.domain.office_stores import Approvals as ApprovalStore
from gateway.domain.office_stores import ApprovalSearch
from gateway.domain.orders import Order, kind_of, read_payout, read_refund, written
from gateway.domain.payouts import Payout, PayoutRequest
from gateway.domain.people import Person
from gateway.domain.refunds import Refund, RefundRequest
from gateway.domain.stores import Accounts, AlreadyExists
from gateway.operations.administration import Acting
from gateway.operations.connections import paying_bank_of
from gateway.operations.payouts import Payouts
from gateway.operations.refunds import Refunds

Moved = Payout | Refund

_DECIDED = ("decided", "The order was decided already.")
_OVER = ("over", "The order's day is over.")
_OWN_ORDER = "Another person has to agree to an order of your own."
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
class Decided:
    """An approval after a decision, and the money it moved."""

    approval: Approval
    moved: Moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Takes orders of people, and decisions on them."""

    store: ApprovalStore
    accounts: Accounts
    payouts: Payouts
    refunds: Refunds
    terms: ApprovalTerms

    async def order(self, person: Person, account: Account, order: Order) -> Moved | Approval:
        """
        Move money for a person, or let the order wait for another one.

        Safe to repeat: an order that was carried out is answered with what it moved.

        Raises:
            ServiceError: as moving it does, while payouts are stopped too;
                ``SVC.GTW.009`` when an order of this reference waits already.
        """
        if not self._waits(order):
            return await self._move(person, account, order)
        known = await self._known(account, order)
        if known is not None:
            return known
        await self._check(person.user_id, account, order)
        approval = self._approval(person, account, order)
        event = Acting(person.actor, self.terms.now).event(
            "approval.ordered", _subject(approval), _told(approval)
        )
        try:
            await self.store.add(approval, event)
        except AlreadyExists as problem:
            raise ServiceError(errors.ALREADY_IN_USE, "waiting") from problem
        return approval

    async def approve(self, person: Person, approval_id: str) -> Decided:
        """
        Agree, and move the money as the person who ordered it.

        One decision holds, however many come at once. Safe to repeat: when the
        process died between the decision and the bank, any person who may
        approve carries it through.

        Raises:
            ServiceError: ``FORBIDDEN`` for one's own order; ``NOT_POSSIBLE`` when it
                was decided otherwise or is over; as moving it does, in which case
                it still waits if that is certain to have moved nothing.
        """
        approval = await self.find(person, approval_id)
        if approval.ordered_by == person.user_id:
            raise ServiceError(identity_errors.FORBIDDEN, "own_order", detail=_OWN_ORDER)
        account = await self._account(approval)
        order = self._order(approval)
        if approval.state is not ApprovalState.APPROVED:
            self._refuse_over(approval)
            await self._check(approval.ordered_by, account, order)
            approval = await self._decide(person, approval, ApprovalState.APPROVED, "")
        return Decided(approval=approval, moved=await self._move_for(approval, account, order))

    async def reject(self, person: Person, approval_id: str, reason: str) -> Approval:
        """Refuse, or take one's own order back; ``reason`` is for those who come after."""
        approval = await self.find(person, approval_id)
        self._refuse_over(approval)
        return await self._decide(person, approval, ApprovalState.REJECTED, reason)

    async def find(self, person: Person, approval_id: str) -> Approval:
        """Return one; ``NOT_FOUND`` also for one of a company that is not shown to them."""
        approval = await self.store.find(approval_id)
        if approval is None or not person.sees(approval.company_id):
            raise ServiceError(identity_errors.NOT_FOUND, "no_approval")
        return approval

    def ordered(self, approval: Approval) -> Order:
        """Open what was ordered; whoever decides has to see where the money goes."""
        return self._order(approval)

    async def search(
        self, person: Person, search: ApprovalSearch
    ) -> tuple[Sequence[Approval], int]:
        """Return a page of those shown to a person, newest first, and how many there are."""
        return await self.store.search(replace(search, companies=person.companies))

    async def expire(self) -> int:
        """End those that nobody decided in time; return how many."""
        now = self.terms.now()
        acting = Acting("system", self.terms.now)
        overdue = await self.store.overdue(now)
        ended = 0
        for each in overdue:
            over = replace(each, state=ApprovalState.EXPIRED, decided_at=now)
            ended += await self.store.decide(over, acting.event("approval.expired", _subject(each)))
        return ended

    def _waits(self, order: Order) -> bool:
        above = self.terms.above
        return above is not None and order.value > above

    async def _check(self, user_id: str, account: Account, order: Order) -> None:
        """Refuse what could not be carried out as things stand."""
        if not account.active:
            raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
        if not account.verified:
            raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
        if isinstance(order, PayoutRequest) and order.date != self.terms.now().date():
            raise ServiceError(errors.PAYOUT_DATE_NOT_TODAY, "not_today", field="date")
        paying_bank_of(self.payouts.banks, account)
        if isinstance(order, PayoutRequest):
            await self.payouts.guards.go_on(_caller(user_id, account))
        else:
            await self.refunds.go_on(account)

    async def _known(self, account: Account, order: Order) -> Payout | None:
        """Return the payout that the reference names already, if it is what is ordered."""
        if isinstance(order, RefundRequest):
            return None
        payout = await self.payouts.store.find(account.id, order.reference)
        if payout is not None and payout.fingerprint != order.fingerprint():
            raise ServiceError(errors.PAYOUT_REFERENCE_IN_USE, "other_content")
        return payout

    def _approval(self, person: Person, account: Account, order: Order) -> Approval:
        now, approval_id = self.terms.now(), self.terms.new_id()
        return Approval(
            id=approval_id,
            kind=kind_of(order),
            account_id=account.id,
            company_id=account.company_id,
            reference=order.reference,
            value=order.value,
            sealed_order=self.terms.seal(written(order), _bound(approval_id)),
            ordered_by=person.user_id,
            orderer=person.actor,
            ordered_at=now,
            ends_at=_midnight(now),
        )

    def _order(self, approval: Approval) -> Order:
        text = self.terms.open(approval.sealed_order, _bound(approval.id))
        return read_payout(text) if approval.kind is ApprovalKind.PAYOUT else read_refund(text)

    async def _account(self, approval: Approval) -> Account:
        """Return the account as it is now, from the store itself."""
        account = await self.accounts.find(approval.account_id)
        if account is None:
            raise ServiceError(errors.ACCOUNT_NOT_FOUND, "no_account")
        return account

    def _refuse_over(self, approval: Approval) -> None:
        """Refuse to decide what waits no more."""
        if approval.state is not ApprovalState.WAITING:
            raise _not_possible(*_DECIDED)
        if self.terms.now() >= approval.ends_at:
            raise _not_possible(*_OVER)

    async def _decide(
        self, person: Person, approval: Approval, state: ApprovalState, reason: str
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
        details = _told(approval) | {"reason": reason}
        event = Acting(person.actor, self.terms.now).event(
            f"approval.{state.value}", _subject(approval), details
        )
        if not await self.store.decide(decided, event):
            raise _not_possible(*_MEANWHILE)
        return decided

    async def _move(self, person: Person, account: Account, order: Order) -> Moved:
        """Move money that waits for nobody."""
        return await self._carry_out(person.user_id, person.actor, account, order)

    async def _move_for(self, approval: Approval, account: Account, order: Order) -> Moved:
        """Move money that was agreed to, in the name of whoever ordered it."""
        return await self._carry_out(approval.ordered_by, approval.orderer, account, order)

    async def _carry_out(self, user_id: str, actor: str, account: Account, order: Order) -> Moved:
        if isinstance(order, RefundRequest):
            return await self.refunds.create(Acting(actor, self.terms.now), account, order)
        return await self.payouts.create(_caller(user_id, account), order)


def _caller(user_id: str, account: Account) -> Caller:
    """Say who pays: a person, whose name is no credential's."""
    principal = Principal(
        client_id=f"user:{user_id}",
        company_id=account.company_id,
        account_id=None,
        permissions=frozenset(),
    )
    return Caller(principal, account)


def _midnight(now: datetime) -> datetime:
    """Return the end of the UTC day: a payout is made on the day it is dated."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def _bound(approval_id: str) -> str:
    """Name the row an order is sealed for."""
    return f"approval:{approval_id}"


def _subject(approval: Approval) -> str:
    """Name it for the audit log."""
    return f"approval:{approval.id}"


def _told(approval: Approval) -> dict[str, str]:
    """Say what it is about; a reference may be personal and stays out."""
    return {
        "kind": approval.kind.value,
        "account": approval.account_id,
        "value": str(approval.value),
    }


def _not_possible(reason: str, why: str) -> ServiceError:
    return ServiceError(identity_errors.NOT_POSSIBLE, reason, detail=why)
