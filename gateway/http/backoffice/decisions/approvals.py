"""Orders that wait for another user: read with everything they say, approved, rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import msgspec

from gateway.domain.backoffice import access_orders
from gateway.domain.backoffice.access_orders import BackOfficeOrder
from gateway.domain.backoffice.approvals import Approval, ApprovalSearch, ApprovalState
from gateway.domain.backoffice.money_orders import Order
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.payouts.payouts import Payout
from gateway.http.backoffice.callers import (
    ABSENT,
    CHANGED,
    REFUND_FAILS,
    BackOfficeCaller,
    explained,
)
from gateway.http.backoffice.cells import NO_BODY, WAITS, WITH_BODY, reading, writing
from gateway.http.backoffice.decisions.order_documents import OrderDocument, ordered
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Answer, Row, route
from gateway.operations.backoffice import money_orders
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.backoffice.order_execution import Decided
from gateway.operations.bank.pages import Listed
from gateway.operations.payouts.answers import CERTAINLY_NOT_SENT
from policies.validation.backoffice import inputs


class OutcomeDocument(TypedDict):
    """What became of an order that was approved; the code is that of a refusal."""

    status: Literal["", "done", "moved", "refused", "not_sent", "unknown"]
    code: str


class ApprovalDocument(TypedDict):
    """
    An order that waits for another user, or what became of it.

    ``subject`` is what it is about: an account, a credential, a user. Until
    ``secret_until`` whoever ordered it may fetch the secret, once.
    """

    id: str
    status: Literal["waiting", "approved", "rejected", "expired", "void"]
    kind: Literal[
        "payout",
        "refund",
        "credential_issue",
        "credential_rotation",
        "credential_limits",
        "invitation",
        "roles",
        "companies",
        "enabling",
        "factor_reset",
        "account_bank",
    ]
    company_id: str
    account_id: str
    subject: str
    reference: str
    value: Amount
    ordered_by: str
    ordered_at: Instant
    ends_at: Instant
    decided_by: str
    decided_at: Instant
    reason: str
    outcome: OutcomeDocument
    secret_until: Instant


class RejectionBody(msgspec.Struct):
    """Why; it stays on record."""

    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


WaitingAnswer = Answer[ApprovalDocument]
"""202: the order waits for another user."""


class OrderedDocument(TypedDict):
    """An order that waits, with all of its content."""

    approval: ApprovalDocument
    order: OrderDocument


class MovedDocument(TypedDict):
    """The money that a decision moved."""

    approval: ApprovalDocument
    status: Literal["processing", "paid", "failed", "done"]


class ApprovalList(TypedDict):
    """A page of orders, newest first."""

    data: list[ApprovalDocument]
    meta: Meter


@dataclass(frozen=True, slots=True)
class Ordered:
    """An approval, and what was ordered; ``whole`` shows a recipient's number and key whole."""

    approval: Approval
    order: Order | BackOfficeOrder
    whole: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalActs:
    """What people do with orders of others."""

    approvals: Approvals

    async def search(self, who: BackOfficeCaller, wanted: ApprovalSearch) -> Listed[Approval]:
        """Return a page."""
        found, total = await self.approvals.search(who.person, who.scope, wanted)
        return Listed(items=found, paging=wanted.paging, total=total)

    async def read(self, who: BackOfficeCaller, approval_id: str) -> Ordered:
        """Read one with all that it says; that a decider reads whose money it is, is recorded."""
        found = await self.approvals.find(who.person, who.scope, approval_id)
        text = self.approvals.text(found)
        if found.moves_money:
            whole = await self.approvals.opens(who.person, found)
            return Ordered(found, money_orders.read(found, text), whole)
        return Ordered(found, access_orders.read(text))

    async def approve(self, who: BackOfficeCaller, approval_id: str) -> Decided:
        """Agree."""
        with explained():
            return await self.approvals.approve(who.person, who.scope, approval_id)

    async def reject(self, who: BackOfficeCaller, taken: tuple[str, RejectionBody]) -> Approval:
        """Refuse."""
        approval_id, why = taken
        return await self.approvals.reject(who.person, who.scope, approval_id, why.reason)


_APPROVAL = inputs.of_path("approval_id")


_DECIDING = (*CHANGED, identity_errors.FORBIDDEN)


_MOVING = (
    errors.ACCOUNT_NOT_FOUND,
    errors.ACCOUNT_INACTIVE,
    errors.ACCOUNT_UNVERIFIED,
    errors.PROVIDER_NOT_CONFIGURED,
    errors.PROVIDER_READ_ONLY,
    errors.PAYOUT_DATE_NOT_TODAY,
    errors.PAYOUT_REJECTED,
    errors.PAYOUT_REFERENCE_IN_USE,
    errors.PAYOUT_NOT_ALLOWED,
    errors.PAYOUTS_STOPPED,
    errors.PAYOUT_UNKNOWN,
    *CERTAINLY_NOT_SENT,
    errors.BANK_REFUSED,
    errors.ALREADY_IN_USE,
)


def approval_rows(does: ApprovalActs) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/approvals",
            name="backoffice.approvals",
            summary="List the orders that wait, or waited, for another user.",
            needs=reading(Area.APPROVAL),
            limits=NO_BODY,
            takes=inputs.filters(
                lambda given: ApprovalSearch(
                    paging=given.paging(), state=given.read("status", ApprovalState)
                ),
                inputs.word_filter("status", ApprovalState),
                *inputs.PAGING,
            ),
            runs=does.search,
            shows=_approvals,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/approvals/{approval_id}",
            name="backoffice.approval",
            summary="Read an order with all of its content.",
            needs=reading(Area.APPROVAL),
            limits=NO_BODY,
            takes=_APPROVAL,
            runs=does.read,
            shows=_ordered,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
        route(
            "POST",
            "/approvals/{approval_id}/approve",
            name="backoffice.approval_approve",
            summary="Approve another user's order; it is then carried out.",
            needs=writing(Area.APPROVAL),
            limits=NO_BODY,
            takes=_APPROVAL,
            runs=does.approve,
            shows=_moved,
            fails=REFUND_FAILS,
            raises=(*_DECIDING, *_MOVING),
        ),
        route(
            "POST",
            "/approvals/{approval_id}/reject",
            name="backoffice.approval_reject",
            summary="Reject an order, or withdraw your own.",
            needs=writing(Area.APPROVAL),
            limits=WITH_BODY,
            takes=inputs.both(_APPROVAL, RejectionBody),
            runs=does.reject,
            shows=_approval,
            fails=STORE_FAILS,
            raises=_DECIDING,
        ),
    )


def _approval(found: Approval, _who: BackOfficeCaller) -> ApprovalDocument:
    return approval(found)


def _approvals(found: Listed[Approval], _who: BackOfficeCaller) -> ApprovalList:
    data = [approval(each) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}


def _ordered(found: Ordered, _who: BackOfficeCaller) -> OrderedDocument:
    return {"approval": approval(found.approval), "order": ordered(found.order, whole=found.whole)}


def _moved(decided: Decided, _who: BackOfficeCaller) -> MovedDocument:
    moved, shown = decided.moved, approval(decided.approval)
    if moved is None:
        return {"approval": shown, "status": "done"}
    # A payout is told as its partner is told: processing, whatever the bank has said by now.
    if isinstance(moved, Payout):
        return {"approval": shown, "status": "processing"}
    return {"approval": shown, "status": moved.status.value}


def approval(found: Approval) -> ApprovalDocument:
    """Show an order that waits, or what became of it."""
    return {
        "id": found.id,
        "status": found.state.value,
        "kind": found.kind.value,
        "company_id": found.company_id,
        "account_id": found.account_id,
        "subject": found.subject,
        "reference": found.reference,
        "value": found.value,
        "ordered_by": found.orderer,
        "ordered_at": instant(found.ordered_at),
        "ends_at": instant(found.ends_at),
        "decided_by": found.decider,
        "decided_at": instant(found.decided_at),
        "reason": found.reason,
        "outcome": {"status": found.outcome.value, "code": found.outcome_code},
        "secret_until": instant(found.collected_until),
    }


def waiting(found: Approval) -> Answer[ApprovalDocument]:
    """Show that an order waits."""
    return Answer(content=approval(found), status=WAITS)
