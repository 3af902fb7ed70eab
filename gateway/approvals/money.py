"""
Payouts and refunds that users order: checks, execution and outcomes.

An order is one JSON text, encrypted while it waits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.accounts.store import StoredAccounts
from gateway.banks.connections import changing_bank_of, offered, paying_bank_of, refuse_letters
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import Payer
from gateway.banks.port.providers import (
    NotFound,
    NotSupported,
    OutcomeUnknown,
    ProviderError,
    Refused,
    Unreachable,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus
from gateway.core import errors, user_errors
from gateway.core.account import Account
from gateway.core.approvals import Approval, ApprovalKind, OrderDocument, Outcome
from gateway.core.audit_context import AuditContext
from gateway.core.calls import Caller
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import payer
from gateway.core.strict import hidden_tax_number
from gateway.payouts.create import CERTAINLY_NOT_SENT, STORE_FULL, Payouts, rejection
from gateway.payouts.model import (
    Absence,
    Payout,
    PayoutRequest,
    PayoutState,
    hidden_destination,
)
from gateway.payouts.order_text import payout_text, read_payout, read_value
from gateway.payouts.owner_mismatches import TOO_MANY_MISMATCHES
from gateway.refunds.orders import RefundRequest
from gateway.refunds.refunding import RefundExecution

Order = PayoutRequest | RefundRequest
Moved = Payout | Refund
Ended = tuple[Outcome, str]
"""An outcome, and the public code of a refusal."""

_FAILURES: Mapping[type, Ended] = {
    OutcomeUnknown: (Outcome.UNKNOWN, ""),
    Unreachable: (Outcome.NOT_SENT, user_errors.REFUND_NOT_SENT.code),
    NotFound: (Outcome.REFUSED, errors.TRANSACTION_NOT_FOUND.code),
    NotSupported: (Outcome.REFUSED, errors.PROVIDER_NOT_CONFIGURED.code),
    Refused: (Outcome.REFUSED, errors.BANK_REFUSED.code),
    ProviderError: (Outcome.UNKNOWN, ""),
}
"""How a bank's failures end a refund; the nearest class decides."""

_ENDS: Mapping[PayoutState, Ended] = {
    PayoutState.HELD: (Outcome.NONE, ""),
    PayoutState.SENDING: (Outcome.UNKNOWN, ""),
    PayoutState.UNKNOWN: (Outcome.UNKNOWN, ""),
    PayoutState.NOT_SENT: (Outcome.NOT_SENT, errors.PROVIDER_UNREACHABLE.code),
    PayoutState.ACCEPTED: (Outcome.MOVED, ""),
    PayoutState.PAID: (Outcome.MOVED, ""),
    PayoutState.REJECTED: (Outcome.REFUSED, errors.PAYOUT_REJECTED.code),
    PayoutState.FAILED: (Outcome.REFUSED, errors.PAYOUT_REJECTED.code),
}
"""What the state of a payout makes of its order."""

_GUARDED = frozenset({"stopped", "similar", STORE_FULL, TOO_MANY_MISMATCHES})
"""Reasons of a refusal of ours, before anything was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyOrders:
    """Checks and executes payouts and refunds that users order."""

    accounts: StoredAccounts
    payouts: Payouts
    refunds: RefundExecution
    now: Now

    async def check(self, user_id: str, account: Account, order: Order) -> IncomingPayment | None:
        """
        Refuse an order that is impossible now.

        That includes a refund above the refundable rest of its payment. Returns the payment, where
        the bank reports it.
        """
        if not account.active:
            raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
        if not account.verified:
            raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
        if isinstance(order, PayoutRequest) and order.date != self.now().date():
            raise ServiceError(errors.PAYOUT_DATE_NOT_TODAY, "not_today", field="date")
        if isinstance(order, PayoutRequest):
            refuse_letters(self.payouts.banks, account, order.tax_numbers())
            paying_bank_of(self.payouts.banks, account, order.method)
            await self.payouts.guards.go_on(_caller(user_id, account))
            return None
        bank = changing_bank_of(self.payouts.banks, account)
        offered(bank, PortCall.CREATE_REFUND)
        await self.refunds.go_on(account)
        return await self.refunds.refuse_above(account, order)

    async def check_again(self, approval: Approval, text: str) -> None:
        """Refuse an order that is impossible by now; the order keeps waiting."""
        order = read(approval, text)
        await self.check(approval.ordered_by, await self._account(approval), order)

    async def known(self, account: Account, order: Order) -> Payout | None:
        """
        Return the existing payout of an order; None if the payout does not exist yet.

        Raises:
            ServiceError: ``SVC.PIX.010`` when the reference names another payout, or one
                that was refused or has failed: as a repetition is answered.
        """
        if isinstance(order, RefundRequest):
            return None
        payout = await self.payouts.store.find(account.id, order.reference)
        if payout is None:
            return None
        if payout.fingerprint != order.fingerprint():
            raise ServiceError(errors.PAYOUT_REFERENCE_IN_USE, "other_content")
        payout = await self.payouts.follow_up.end_day(payout)
        if payout.state in {PayoutState.REJECTED, PayoutState.FAILED}:
            raise rejection(payout)
        return None if payout.state is PayoutState.NOT_SENT else payout

    async def move(self, user_id: str, actor: str, account: Account, order: Order) -> Moved:
        """Move the money in the name of the user who ordered it; safe to repeat."""
        if isinstance(order, RefundRequest):
            return await self.refunds.create(AuditContext(actor, self.now), account, order)
        return await self.payouts.create(_caller(user_id, account), order)

    async def carry_out(self, approval: Approval, text: str) -> Moved:
        """Move the approved money."""
        account = await self._account(approval)
        order = read(approval, text)
        return await self.move(approval.ordered_by, approval.orderer, account, order)

    async def found(self, approval: Approval, text: str) -> Moved | None:
        """
        Look up the result of an order, without moving anything; None without a result.

        A payout is looked up in the store, a refund at its bank.

        Raises:
            Unreachable: the bank does not answer now.
            NotSupported, ServiceError: the bank cannot be queried.
        """
        order = read(approval, text)
        if isinstance(order, RefundRequest):
            return await self.refunds.found(await self._account(approval), order)
        payout = await self.payouts.store.find(approval.account_id or "", order.reference)
        return payout if payout and payout.fingerprint == order.fingerprint() else None

    async def on_record(self, approval: Approval, text: str) -> Ended | None:
        """Return the state of an order's payout in the store; None if there is none."""
        if approval.kind is not ApprovalKind.PAYOUT:
            return None
        payout = await self.found(approval, text)
        return None if payout is None else self.ended(payout)

    def ended(self, moved: Moved) -> Ended:
        """Return the order's outcome for the current state of its payout or refund."""
        if isinstance(moved, Refund):
            failed = moved.status is RefundStatus.FAILED
            return (Outcome.REFUSED, errors.BANK_REFUSED.code) if failed else (Outcome.MOVED, "")
        if moved.state is PayoutState.NOT_SENT and moved.absence is Absence.BANK:
            return Outcome.NOT_SENT, ""  # that the bank was not reached is not so
        return _ENDS[moved.state]

    async def _account(self, approval: Approval) -> Account:
        """Return the account as it is now, from the store itself."""
        account = await self.accounts.find(approval.account_id or "")
        if account is None:
            raise ServiceError(errors.ACCOUNT_NOT_FOUND, "no_account")
        return account


def read(approval: Approval, text: str) -> Order:
    """Parse the order."""
    return read_payout(text) if approval.kind is ApprovalKind.PAYOUT else read_refund(text)


def outcome_of(problem: Exception) -> Ended | None:
    """Return the order's outcome after a failure; None where the failure proves nothing."""
    if isinstance(problem, ServiceError):
        return _refusal(problem)
    kinds = (kind for kind in type(problem).__mro__ if kind in _FAILURES)
    return next((_FAILURES[kind] for kind in kinds), None)


def _refusal(problem: ServiceError) -> Ended:
    if problem.error is errors.PAYOUT_UNKNOWN:
        return Outcome.UNKNOWN, ""
    unsent = problem.error in CERTAINLY_NOT_SENT or problem.reason in _GUARDED
    return Outcome.NOT_SENT if unsent else Outcome.REFUSED, problem.error.code


def _caller(user_id: str, account: Account) -> Caller:
    """Return the account that pays."""
    return Caller(payer(user_id, account.company_id), account)


def kind_of(order: Order) -> ApprovalKind:
    """Return the kind of an order."""
    return ApprovalKind.PAYOUT if isinstance(order, PayoutRequest) else ApprovalKind.REFUND


def written(order: Order, received: IncomingPayment | None = None) -> str:
    """Serialise an order; a refund includes its payment ``received``, for the approver."""
    if isinstance(order, PayoutRequest):
        return payout_text(order)
    content: dict[str, object] = {
        "reference": order.reference,
        "centavos": order.value.centavos,
        "description": order.description,
        "payment": order.payment,
    }
    if received is not None:
        payer = received.payer or Payer()
        content["received"] = {
            "centavos": received.value.centavos,
            "name": payer.name,
            "tax_number": payer.tax_number,
        }
    return json.dumps(content)


def read_refund(text: str) -> RefundRequest:
    """Parse a refund that ``written`` serialised."""
    content: Mapping[str, object] = json.loads(text)
    return RefundRequest(
        reference=str(content["reference"]),
        payment=str(content["payment"]),
        value=read_value(content),
        description=str(content["description"]),
    )


def order_document(approval: Approval, text: str, *, whole: bool) -> OrderDocument:
    """Return the order as a document; ``whole`` includes a person's full tax number and key."""
    order = read(approval, text)
    if isinstance(order, RefundRequest):
        refund: OrderDocument = {
            "method": "refund",
            "date": "",
            "description": order.description,
            "destination": {},
            "payment": order.payment,
        }
        received = json.loads(text).get("received")
        if received:
            refund["received"] = {
                "value": read_value(received),
                "payer_name": received["name"],
                "payer_tax_number": hidden_tax_number(received["tax_number"]),
            }
        return refund
    sent = order.destination_sent
    texts = sent if whole else hidden_destination(sent)
    shown: OrderDocument = {
        "method": order.method.value,
        "date": order.date.isoformat(),
        "description": order.description,
        "destination": {name: text for name, text in texts.items() if text},
        "payment": "",
    }
    if order.owner is not None:
        shown["owner"] = order.owner.document(order.destination)
    return shown
