"""
Refunds: money received is given back, once for a reference.

Refunds are stored only in the audit log. The bank is queried before the order, and executes one
refund per key, ever: a repeated reference can never refund twice, from any process, even after a
loss of our store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.audit.store import StoredAudit
from gateway.banks.acts import BankAct, recorded, refused
from gateway.banks.connections import bank_of, changing_bank_of, offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import (
    ABOVE_PAYMENT,
    IN_USE,
    NOT_PAID,
    SEVERAL_PAYMENTS,
    WHY,
    Accepted,
    Bank,
    Banks,
    NotFound,
    NotSent,
    NotSupported,
    OutcomeUnknown,
    ProviderError,
    RefundCalls,
    Refused,
    Rejected,
    Settled,
    Unknown,
    Unreachable,
)
from gateway.banks.port.refunds import (
    IncomingPayment,
    Refund,
    RefundOrder,
    RefundStatus,
    refund_key,
)
from gateway.core import errors
from gateway.core.account import Account, Environment
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Deadline, Monotonic, Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import Principal
from gateway.refunds.orders import RefundRequest
from gateway.stops.model import Stop

Answered = TypeVar("Answered")

StopsInForce = Callable[[], Awaitable[Sequence[Stop]]]
"""Gives the kill switches in force; those of other processes may be a second late."""

Tell = Callable[[Account, Refund], Awaitable[None]]
"""Stores a refund and its event, once it has moved money."""

SEND_S = 20.0
"""Seconds after which an order is not sent any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundExecution:
    """
    Executes ordered refunds (contract 4.3).

    Attributes:
        stops: Gives the stops in force, which may be a second old: one that
            holds payouts back holds refunds back too.
        tell: Tells the partner of a refund; raises nothing.
    """

    banks: Banks
    audit: StoredAudit
    environment: Environment
    now: Now
    monotonic: Monotonic
    stops: StopsInForce
    tell: Tell

    async def create(
        self, acting: AuditContext, account: Account, request: RefundRequest
    ) -> Refund:
        """
        Give money back, or answer with the refund that the reference already names.

        Safe to repeat with the same content, at any time and from anywhere.

        Raises:
            ServiceError: ``SVC.ACC.005`` (422, 403); ``SVC.GTW.009`` when the
                reference names another refund; ``SVC.GTW.008`` when the bank
                refuses or the payment is not the one payment of its charge;
                ``SVC.PIX.010`` (403) while payouts are stopped.
            NotFound: the bank does not know the payment.
            NotSupported: the bank does not offer it.
            Unreachable: certainly nothing was given back by this call.
            OutcomeUnknown: it may have been: repeat or read the same reference.
            StoreUnavailable: nothing was given back by this call.
        """
        bank = changing_bank_of(self.banks, account)
        calls = offered(bank, PortCall.CREATE_REFUND)
        key = refund_key(self.environment, account.id, request.reference)
        known = await _before_sending(_found(offered(bank, PortCall.FIND_REFUND), bank, key))
        if known is not None:
            repeated = _repeated(known, request)
            await self.tell(account, known)
            return repeated
        await self.go_on(account)
        order = _order(key, request, await _before_sending(_payment(bank, request)))
        async with recorded(self.audit, _act(acting, account, order)):
            refund = await self._send(calls, bank, order)
        await self.tell(account, refund)
        return replace(refund, reference=request.reference)

    async def found(self, account: Account, request: RefundRequest) -> Refund | None:
        """
        Return the requested refund, if the bank has it; orders nothing.

        Raises:
            NotSupported, ServiceError: as for every read.
            Unreachable: the bank cannot be queried now.
        """
        bank = bank_of(self.banks, account)
        key = refund_key(self.environment, account.id, request.reference)
        known = await _before_sending(_found(offered(bank, PortCall.FIND_REFUND), bank, key))
        if known is None or not request.matches(known):
            return None
        return replace(known, reference=request.reference)

    async def go_on(self, account: Account) -> None:
        """
        Check that no stop covers the account; stops of credentials do not concern users.

        Raises:
            ServiceError: ``SVC.PIX.010`` (403) while payouts are stopped here.
            StoreUnavailable: the store did not answer.
        """
        now = self.now()
        nobody = Principal(
            client_id="", company_id=account.company_id, account_id=None, permissions=frozenset()
        )
        if any(stop.holds(nobody, account, now) for stop in await self.stops()):
            raise ServiceError(errors.PAYOUTS_STOPPED, "stopped")

    async def refuse_above(
        self, account: Account, request: RefundRequest
    ) -> IncomingPayment | None:
        """
        Refuse a refund above the unrefunded rest of its payment, as the bank reports it now.

        Returns the payment; None where the bank does not report it.

        A bank that does not report it refuses the order itself; a repetition
        of a given refund is answered then.

        Raises:
            Refused: with ``ABOVE_PAYMENT``.
        """
        bank = changing_bank_of(self.banks, account)
        key = refund_key(self.environment, account.id, request.reference)
        try:
            if await _found(offered(bank, PortCall.FIND_REFUND), bank, key) is not None:
                return None
            incoming = offered(bank, PortCall.FIND_RECEIVED)
            e2e_id = await _payment(bank, request)
            payment = await incoming.find_received(bank.account, e2e_id)
        except (ProviderError, ServiceError):
            return None
        if request.value.centavos > payment.value.centavos - payment.refunded.centavos:
            raise refused(ABOVE_PAYMENT)
        return payment

    async def _send(self, calls: RefundCalls, bank: Bank, order: RefundOrder) -> Refund:
        """Order the refund once; query it once when the answer proves nothing."""
        by = Deadline(self.monotonic() + SEND_S, self.monotonic)
        try:
            outcome = await calls.create_refund(bank.account, order, by)
        except Exception as problem:  # noqa: BLE001 - an adapter's mistake is no proof of anything
            return await _looked_up(calls, bank, order, problem)
        match outcome:
            case NotSent(evidence=evidence, retry_after=wait_s):
                raise Unreachable(evidence.reason, retry_after=wait_s)
            case Rejected():
                raise _refusal(outcome)
            case Unknown(evidence=evidence):
                return await _looked_up(calls, bank, order, OutcomeUnknown(evidence.reason))
        return await self._given(calls, bank, order, outcome)

    async def _given(
        self, calls: RefundCalls, bank: Bank, order: RefundOrder, outcome: Accepted | Settled
    ) -> Refund:
        """Return the refund as the bank shows it, or as ordered without an answer to the query."""
        try:
            return await calls.find_refund(bank.account, order.provider_key)
        except ProviderError:
            settled = isinstance(outcome, Settled)
            return Refund(
                reference=order.reference,
                provider_key=order.provider_key,
                provider_id=outcome.provider_id,
                payment_e2e_id=order.payment_e2e_id,
                payment_reference="",
                return_id=outcome.e2e_id,
                value=order.value,
                description=order.description,
                status=RefundStatus.PAID if settled else RefundStatus.PROCESSING,
                failure=None,
                created_at=self.now(),
                settled_at=outcome.settled_at if isinstance(outcome, Settled) else None,
            )


async def _looked_up(calls: RefundCalls, bank: Bank, order: RefundOrder, lost: Exception) -> Refund:
    """Query once for a refund whose order had an unreliable answer."""
    reason = lost.reason if isinstance(lost, ProviderError) else "adapter_raised"
    try:
        refund = await calls.find_refund(bank.account, order.provider_key)
    except ProviderError:
        raise OutcomeUnknown(reason) from lost
    if (refund.payment_e2e_id, refund.value) != (order.payment_e2e_id, order.value):
        raise Refused(IN_USE) from lost
    return refund


async def _found(calls: RefundCalls, bank: Bank, key: str) -> Refund | None:
    try:
        return await calls.find_refund(bank.account, key)
    except NotFound:
        return None


async def _payment(bank: Bank, request: RefundRequest) -> str:
    if request.names_payment:
        incoming = offered(bank, PortCall.FIND_RECEIVED)
        return (await incoming.find_received(bank.account, request.payment)).e2e_id
    charge = await offered(bank, PortCall.GET_CHARGE).get_charge(bank.account, request.payment)
    if charge.reusable:
        raise refused(SEVERAL_PAYMENTS)
    calls = offered(bank, PortCall.GET_CHARGE_PAYMENT)
    payment = await calls.get_charge_payment(bank.account, request.payment)
    if payment.paid_at is None or not payment.e2e_id:
        raise refused(NOT_PAID)
    return payment.e2e_id


async def _before_sending(asking: Awaitable[Answered]) -> Answered:
    """Convert failures before the order: certainly nothing was given back."""
    try:
        return await asking
    except (NotFound, NotSupported):
        raise
    except ProviderError as problem:
        raise Unreachable(
            problem.reason, http_status=problem.http_status, retry_after=problem.retry_after
        ) from problem


def _order(key: str, request: RefundRequest, payment_e2e_id: str) -> RefundOrder:
    return RefundOrder(
        provider_key=key,
        reference=request.reference,
        payment_e2e_id=payment_e2e_id,
        value=request.value,
        description=request.description,
    )


def _repeated(known: Refund, request: RefundRequest) -> Refund:
    """Return the refund that exists already, if it is the one requested."""
    if not request.matches(known):
        raise ServiceError(errors.ALREADY_IN_USE, "other_content")
    return replace(known, reference=request.reference)


def _refusal(rejected: Rejected) -> Refused:
    """Convert a bank's refusal to the error with its reason."""
    reason = rejected.evidence.reason
    return Refused(reason if reason in WHY else rejected.failure.value.lower())


def _act(acting: AuditContext, account: Account, order: RefundOrder) -> BankAct:
    """Describe the order for the audit log by its provider key, which holds no personal data."""
    return BankAct(
        acting=acting,
        account=account,
        action="refund",
        subject=f"refund:{order.provider_key}",
        details={"value": str(order.value), "payment": order.payment_e2e_id},
    )
