"""
Approvals: one user's order is executed when another user agrees.

A waiting order is no payout, credential or role yet: partners do not see it, and approval repeats
every check, beginning with the rights of the user who ordered it. Partners' own payouts never need
approval.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from gateway.approvals.execution import DECIDED, OVER, Decided, OrderExecution, not_possible
from gateway.approvals.facts import ApprovalFacts, DecisionFacts
from gateway.approvals.money import (
    MoneyOrders,
    Moved,
    Order,
    kind_of,
    order_document,
    read,
    written,
)
from gateway.approvals.store import StoredApprovals
from gateway.audit.store import StoredAudit
from gateway.core import errors, user_errors
from gateway.core.access import Requirement, Staff, requirement_of, requires
from gateway.core.account import Account
from gateway.core.approvals import (
    CREDENTIAL_SECRETS,
    ENDPOINT_SECRETS,
    MONEY,
    NEEDED,
    Approval,
    ApprovalKind,
    ApprovalSearch,
    ApprovalState,
    Executor,
    NewOrder,
    OrderDocument,
    OrderedApproval,
    RejectionBody,
    SecretCollection,
    WaitingMoney,
    without_history,
)
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.exports import Exports
from gateway.core.money import Money
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.sessions import SignedInUser
from gateway.core.storage import AlreadyExists, NothingToCollect
from gateway.core.windows import Listed
from gateway.credentials.model import Issued
from gateway.credentials.service import Credentials
from gateway.endpoints.model import EndpointSecret
from gateway.endpoints.service import Endpoints
from gateway.identity.store import StoredUsers
from gateway.payouts.documents import Orderer
from gateway.store.own_work import collectable

WAITS_FOR: Final = timedelta(days=3)
"""Of what moves no money: over a weekend, as long as an invitation, and no longer."""

_DECIDES: Final = Right(Area.APPROVAL, Action.WRITE)
_OWN_ORDER = "Another person has to agree to an order of your own."
_WITHDRAW = "Withdraw an order of your own; another person decides on it."
_NOT_OWN = "Only whoever ordered it may withdraw it."
_ABOUT_ONESELF = "Another person has to agree to an order about you."
_VOID = ("void", "The order is void: see its reason.")
_MEANWHILE = ("meanwhile", "Somebody else has decided meanwhile.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalConfig:
    """
    Settings of approvals: which orders wait, and how they are stored.

    Attributes:
        above: Orders above it wait; zero lets every order wait, None none.
        new_id: Makes a UUID.
        seal, open: Encrypt a text for the row of an id, and decrypt it.
        stored: Called when an order was stored, so that people are told of it.
    """

    above: Money | None
    now: Now
    new_id: Callable[[], str]
    seal: Callable[[str, str], bytes]
    open: Callable[[bytes, str], str]
    stored: Callable[[], None] = lambda: None

    def waits(self, value: Money) -> bool:
        """Return whether an order of this value needs another user."""
        return self.above is not None and value > self.above


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """
    Takes orders of users, and decisions on them.

    Attributes:
        executors: The executor of every kind of order but payouts and refunds; each noun passes
            its own.
    """

    store: StoredApprovals
    audit: StoredAudit
    users: StoredUsers
    money: MoneyOrders
    known: ApprovalFacts
    config: ApprovalConfig
    exports: Exports
    executors: dict[ApprovalKind, Executor] = field(default_factory=dict)

    async def order(self, who: Staff, account: Account, order: Order) -> Moved | Approval:
        """
        Move money for a user, or let the order wait for another one.

        Safe to repeat: an executed order returns the money it moved.

        Raises:
            ServiceError: as moving it does, while payouts are stopped too;
                ``SVC.GTW.009`` when an order of this reference waits already.
        """
        kind = kind_of(order)
        who.require(Requirement(NEEDED[kind]))
        person = _person(who)
        if not self.config.waits(order.value):
            return await self.money.move(person.user_id, person.actor, account, order)
        known = await self.money.known(account, order)
        if known is not None:
            return known
        received = await self.money.check(person.user_id, account, order)
        wanted = NewOrder(
            kind=kind,
            text=written(order, received),
            company_id=account.company_id,
            account_id=account.id,
            subject=account.id,
            reference=order.reference,
            centavos=order.value.centavos,
        )
        return await self.wait(person, wanted)

    async def wait(self, person: SignedInUser, wanted: NewOrder) -> Approval:
        """
        Store a user's order for approval; it is encrypted here.

        Raises:
            ServiceError: ``SVC.GTW.009`` when one of its kind, subject and reference waits already.
        """
        now, approval_id = self.config.now(), self.config.new_id()
        approval = Approval(
            id=approval_id,
            kind=wanted.kind,
            account_id=wanted.account_id,
            company_id=wanted.company_id,
            subject=wanted.subject or approval_id,
            reference=wanted.reference,
            centavos=wanted.centavos,
            sealed_order=self.config.seal(wanted.text, _bound(approval_id)),
            ordered_by=person.user_id,
            orderer=person.actor,
            ordered_at=now,
            ends_at=_midnight(now) if wanted.kind in MONEY else now + WAITS_FOR,
        )
        event = self._execution.event(person.actor, "ordered", approval)
        try:
            await self.store.add(approval, event)
        except AlreadyExists as problem:
            raise ServiceError(errors.ALREADY_IN_USE, "waiting") from problem
        self.config.stored()
        return approval

    @requires(Area.APPROVAL, Action.WRITE)
    async def approve(self, who: Staff, approval_id: str) -> Decided:
        """
        Approve another user's order; it is then executed.

        Only one of several concurrent decisions holds. Safe to repeat: when the process died
        between the decision and the bank call, any user who may approve completes the order. A
        refusal of the bank is not retried.

        Raises:
            ServiceError: ``FORBIDDEN`` for the caller's own order, or an order about the caller;
                ``NOT_POSSIBLE`` when it was decided otherwise, is over or void; as
                carrying it out does, in which case the outcome is on record.
        """
        person, approval = _person(who), await self.find(who, approval_id)
        _refuse_own(person, approval)
        if approval.state is ApprovalState.APPROVED:
            return await self._execution.again(person, approval)
        self._refuse_over(approval)
        await self._look_again(person, approval)
        approval = await self._decide(person, approval, ApprovalState.APPROVED, "")
        return await self._execution.first(approval)

    @requires(Area.APPROVAL, Action.WRITE)
    async def reject(self, who: Staff, approval_id: str, why: RejectionBody) -> Approval:
        """
        Reject another user's order.

        Raises:
            ServiceError: ``FORBIDDEN`` for the caller's own order, which ``withdraw`` ends;
                ``NOT_POSSIBLE`` when it was decided, or is over.
        """
        person, approval = _person(who), await self.find(who, approval_id)
        if approval.ordered_by == person.user_id:
            raise ServiceError(user_errors.FORBIDDEN, "own_order", detail=_WITHDRAW)
        return await self._end(person, approval, ApprovalState.REJECTED, why.reason)

    @requires(Area.APPROVAL, Action.READ)
    async def withdraw(self, who: Staff, approval_id: str, why: RejectionBody) -> Approval:
        """
        Withdraw your own order while it waits.

        Raises:
            ServiceError: ``FORBIDDEN`` for another user's order; ``NOT_POSSIBLE`` when it was
                decided, or is over.
        """
        person, approval = _person(who), await self.find(who, approval_id)
        if approval.ordered_by != person.user_id:
            raise ServiceError(user_errors.FORBIDDEN, "not_own_order", detail=_NOT_OWN)
        return await self._end(person, approval, ApprovalState.WITHDRAWN, why.reason)

    @requires(Area.APPROVAL, Action.READ)
    async def page(self, who: Staff, wanted: ApprovalSearch) -> Listed[Approval]:
        """
        List the orders that wait, or waited, for another user.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await self.store.search(wanted, who.scope, _person(who).user_id)
        await self.exports.show(who, len(found.items))
        return found

    @requires(Area.APPROVAL, Action.READ)
    async def to_collect(self, who: Staff) -> Sequence[Approval]:
        """List your approved orders whose secrets you can collect now."""
        wanted = collectable(who, self.config.now())
        return await self.store.matching(wanted, who.scope, _person(who).user_id)

    @requires(Area.APPROVAL, Action.READ)
    async def get(self, who: Staff, approval_id: str) -> OrderedApproval:
        """
        Read an order with all of its content.

        A user who may still decide on a payout sees its full recipient. That shows somebody's
        data, so it is recorded as an act.

        Raises:
            ServiceError: ``NOT_FOUND``, also for one outside of the scope.
            StoreUnavailable: the act cannot be recorded.
        """
        found = await self.find(who, approval_id)
        text = self.text(found)
        executor = self.executors.get(found.kind)
        if executor is not None:
            order = executor.order_document(text)
            is_own = found.ordered_by == _person(who).user_id
            is_told = who.may(_DECIDES) and not is_own
            return OrderedApproval(found, order if is_told else without_history(order))
        return OrderedApproval(found, await self._money_document(who, found, text))

    @requires(Area.APPROVAL, Action.READ)
    async def people(
        self, _who: Staff, orders: Sequence[Approval], about: Sequence[str] = ()
    ) -> Sequence[Orderer]:
        """
        Return the names of the users who gave or decided orders that were read here.

        Args:
            orders: What was read.
            about: Ids of further users whom these orders name.
        """
        ids = {*about, *(each for one in orders for each in (one.ordered_by, one.decided_by))}
        found = await self.users.list(ids)
        return [Orderer(each.id, each.name, each.email) for each in found]

    @requires(Area.APPROVAL, Action.READ)
    async def facts(self, who: Staff, approval_id: str) -> DecisionFacts:
        """
        Read payouts of 30 days like an order of money, the account's balance and waiting orders.

        Payouts alike go to its recipient, or are of its value and of today. What waits are the
        other undecided payouts and refunds of the account.

        Raises:
            ServiceError: ``NOT_FOUND``, also for one outside of the scope.
        """
        return await self.facts_around(who, await self.find(who, approval_id))

    @requires(Area.APPROVAL, Action.READ)
    async def facts_around(
        self, who: Staff, approval: Approval, *, asks_bank: bool = False
    ) -> DecisionFacts:
        """Read the facts of an order read here; the bank is queried first, for seconds."""
        if not approval.moves_money:
            return DecisionFacts()
        read_facts = self.known.now_of if asks_bank else self.known.of
        is_single = approval.kind not in self.executors
        order = read(approval, self.text(approval)) if is_single else None
        return await read_facts(who, approval, order)

    @requires(Area.APPROVAL, Action.READ)
    async def waiting(self, who: Staff, account: Account) -> WaitingMoney:
        """Read the payouts and refunds of an account that wait for another user."""
        if not who.scope.includes(account.company_id):
            return WaitingMoney()
        return await self.store.waiting_money(account.id, who.acting.now())

    async def find(self, who: Staff, approval_id: str) -> Approval:
        """Return an order; ``NOT_FOUND`` also for one outside of the scope."""
        approval = await self.store.find(approval_id, who.scope, _person(who).user_id)
        if approval is None:
            raise ServiceError(user_errors.NOT_FOUND, "no_approval")
        return approval

    def text(self, approval: Approval) -> str:
        """Decrypt an order; an approver has to see where the money goes."""
        return self.config.open(approval.sealed_order, _bound(approval.id))

    async def expire(self) -> int:
        """End orders that were not decided in time; return how many."""
        now = self.config.now()
        overdue = await self.store.overdue(now)
        ended = 0
        for each in overdue:
            over = replace(each, state=ApprovalState.EXPIRED, decided_at=now)
            ended += await self.store.decide(over, self._execution.event("system", "expired", over))
        return ended + await self._execution.follow()

    @property
    def _execution(self) -> OrderExecution:
        """Executes approved orders."""
        return OrderExecution(
            store=self.store,
            audit=self.audit,
            users=self.users,
            money=self.money,
            executors=self.executors,
            now=self.config.now,
            text=self.text,
        )

    async def _money_document(self, who: Staff, approval: Approval, text: str) -> OrderDocument:
        """Return an order of money as a document; approvers see the recipient in full."""
        person = _person(who)
        decides = person.may(requirement_of(self.approve).right)
        whole = approval.is_open and decides and approval.ordered_by != person.user_id
        if whole and approval.kind is ApprovalKind.PAYOUT:
            await self.audit.append(self._execution.event(person.actor, "read", approval))
        return order_document(approval, text, whole=whole)

    def _refuse_over(self, approval: Approval) -> None:
        """Refuse to decide an order that no longer waits."""
        if approval.state is not ApprovalState.WAITING:
            raise not_possible(*DECIDED)
        if self.config.now() >= approval.ends_at:
            raise not_possible(*OVER)

    async def _look_again(self, person: SignedInUser, approval: Approval) -> None:
        """
        Check the user who gave the order and the order itself, both as of now.

        Raises:
            ServiceError: ``NOT_POSSIBLE`` when the order is void, which is stored; as for an order
                that is refused, in which case it waits on.
        """
        reason = await self._execution.void_reason(approval)
        if reason:
            await self._decide(person, approval, ApprovalState.VOID, reason.value)
            raise not_possible(*_VOID)

    async def _end(
        self, person: SignedInUser, approval: Approval, state: ApprovalState, reason: str
    ) -> Approval:
        """End a waiting order without executing it."""
        self._refuse_over(approval)
        return await self._decide(person, approval, state, reason)

    async def _decide(
        self, person: SignedInUser, approval: Approval, state: ApprovalState, reason: str
    ) -> Approval:
        """Store a decision by compare-and-set."""
        decided = replace(
            approval,
            state=state,
            decided_by=person.user_id,
            decider=person.actor,
            decided_at=self.config.now(),
            reason=reason,
        )
        event = self._execution.event(person.actor, state.value, decided)
        if not await self.store.decide(decided, event):
            raise not_possible(*_MEANWHILE)
        return decided


@dataclass(frozen=True, slots=True)
class ApprovedSecrets:
    """Secrets of credentials and endpoints ordered by users and approved."""

    approvals: Approvals
    credentials: Credentials
    endpoints: Endpoints

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def collect(self, who: Staff, approval_id: str) -> Issued:
        """
        Make and show the secret of your approved order: once, within 15 minutes.

        Raises:
            ServiceError: ``NOT_FOUND`` for anybody but who ordered it, later than a
                quarter of an hour after the approval, and for the second time.
            RuleViolation: the credential ended meanwhile, or could not be issued now.
        """
        approval, collection = await self._own(who, approval_id, CREDENTIAL_SECRETS)
        text = self.approvals.text(approval)
        try:
            return await self.credentials.make_secret(who.acting, approval, text, collection)
        except NothingToCollect as problem:
            raise _nothing() from problem

    @requires(Area.ENDPOINT, Action.WRITE)
    async def collect_of_endpoint(self, who: Staff, approval_id: str) -> EndpointSecret:
        """
        Make and show the secret of your approved order of an endpoint: once, within 15 minutes.

        Raises:
            ServiceError: as ``collect`` does.
            RuleViolation: the endpoint was changed meanwhile, or could not be added now.
        """
        approval, collection = await self._own(who, approval_id, ENDPOINT_SECRETS)
        text = self.approvals.text(approval)
        try:
            return await self.endpoints.make_secret(who.acting, approval, text, collection)
        except NothingToCollect as problem:
            raise _nothing() from problem

    async def _own(
        self, who: Staff, approval_id: str, kinds: Collection[ApprovalKind]
    ) -> tuple[Approval, SecretCollection]:
        """Return the caller's own order of some kinds, whose secret can be collected now."""
        approval, now = await self.approvals.find(who, approval_id), who.acting.now()
        until = approval.collected_until
        is_own = approval.ordered_by == _person(who).user_id and approval.kind in kinds
        if not is_own or until is None or now >= until:
            raise _nothing()
        return approval, SecretCollection(approval.id, now)


def _nothing() -> ServiceError:
    return ServiceError(user_errors.NOT_FOUND, "no_secret")


def _person(who: Staff) -> SignedInUser:
    """Return the acting user; the command line can neither order nor decide."""
    if who.person is None:
        raise ServiceError(user_errors.FORBIDDEN, "permission")
    return who.person


def _refuse_own(person: SignedInUser, approval: Approval) -> None:
    """Refuse decisions on the caller's own order, and on orders that benefit the caller."""
    if approval.ordered_by == person.user_id:
        raise ServiceError(user_errors.FORBIDDEN, "own_order", detail=_OWN_ORDER)
    if approval.subject == person.user_id:
        raise ServiceError(user_errors.FORBIDDEN, "about_oneself", detail=_ABOUT_ONESELF)


def _midnight(now: datetime) -> datetime:
    """Return the end of the UTC day: a payout must be created on its date."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def _bound(approval_id: str) -> str:
    """Return the row id to which an order's encryption is bound."""
    return f"approval:{approval_id}"
