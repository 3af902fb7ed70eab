"""Refunds: payments given back, wholly or in part (contract 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NotRequired, TypedDict

from gateway.approvals.model import Approval, ApprovalDocument
from gateway.approvals.service import Approvals
from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.bank.refunds import Refund, RefundRequest, RefundStatus
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.payouts.payouts import Payout
from gateway.http.backoffice.callers import (
    CHANGES,
    READS,
    REFUND_FAILS,
    AccountCaller,
    bank_fails,
    on_account,
)
from gateway.http.backoffice.cells import (
    NO_BODY,
    WAITS,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    waiting,
    writing,
)
from gateway.http.rendering import Amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import (
    FailureDocument,
    Instant,
    Meter,
)
from gateway.http.route import Answer, Row, route
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice.orders import REFUND
from policies.validation.backoffice.searches import REFUNDS
from policies.validation.inputs import REFERENCE


class RefundedDocument(TypedDict):
    """The payment that is given back; its reference is empty where it paid no charge."""

    reference: str
    e2e_id: str


class RefundDocument(TypedDict):
    """A refund; only a failed one has a failure."""

    reference: str
    status: Literal["processing", "paid", "failed"]
    value: Amount
    description: str
    transaction: RefundedDocument
    return_id: str
    created_at: Instant
    settled_at: Instant
    failure: NotRequired[FailureDocument]


class RefundList(TypedDict):
    """A page of refunds, newest first."""

    data: list[RefundDocument]
    meta: Meter


def refund_reading_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that read refunds."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/refunds/search",
            name="backoffice.pix_refunds",
            summary="Search refunds.",
            needs=reading(Area.REFUND),
            limits=WITH_BODY,
            takes=REFUNDS,
            runs=on_account(does.bank.refunds.search),
            shows=refunds,
            fails=bank_fails(errors.TRANSACTION_UNAVAILABLE),
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/pix/refunds/{reference}",
            name="backoffice.pix_refund",
            summary="Read a refund by its own reference.",
            needs=reading(Area.REFUND),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=on_account(does.bank.refunds.read),
            shows=refund,
            fails=bank_fails(errors.TRANSACTION_UNAVAILABLE, errors.TRANSACTION_NOT_FOUND),
            raises=READS,
        ),
    )


def refund_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that gives money back."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/transactions/{reference}/refunds",
            name="backoffice.pix_refund_create",
            summary="Refund a payment, wholly or in part; the order may wait for another user.",
            needs=writing(Area.REFUND),
            limits=WITH_BODY,
            takes=REFUND,
            runs=_Refunding(does.approvals).order,
            shows=ordered_refund,
            fails=REFUND_FAILS,
            raises=(*CHANGES, errors.PAYOUTS_STOPPED),
            also={WAITS: ApprovalDocument},
        ),
    )


class _Refunding:
    """Orders refunds for people."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def order(self, who: AccountCaller, request: RefundRequest) -> Refund | Approval:
        """Give money back, or let the order wait."""
        found = await self._approvals.order(who.staff, who.account, request)
        if isinstance(found, Payout):
            raise TypeError(found)
        return found


_FAILED: Final = "The refund failed."


_FAILURES: Mapping[FailureCode, str] = {
    FailureCode.REJECTED: "The bank rejected the refund.",
    FailureCode.INSUFFICIENT_FUNDS: "The available balance was not enough.",
    FailureCode.ACCOUNT_INVALID: "The payer's account is not valid any more.",
    FailureCode.LIMIT_EXCEEDED: "A limit of the account was exceeded.",
    FailureCode.NOT_SENT: "The refund was not sent.",
}


def refund(found: Refund, _who: AccountCaller) -> RefundDocument:
    """Show a refund."""
    shown: RefundDocument = {
        "reference": found.reference,
        "status": found.status.value,
        "value": found.value,
        "description": found.description,
        "transaction": {"reference": found.payment_reference, "e2e_id": found.payment_e2e_id},
        "return_id": found.return_id,
        "created_at": instant(found.created_at),
        "settled_at": instant(found.settled_at),
    }
    if found.status is RefundStatus.FAILED:
        code = found.failure or FailureCode.OTHER
        shown["failure"] = {"code": code.value, "message": _FAILURES.get(code, _FAILED)}
    return shown


def refunds(found: Listed[Refund], who: AccountCaller) -> RefundList:
    """Show a page of refunds."""
    meta = resources.meter(found.paging, found.total)
    return {"data": [refund(each, who) for each in found.items], "meta": meta}


def ordered_refund(
    found: Refund | Approval, who: AccountCaller
) -> Answer[RefundDocument] | Answer[ApprovalDocument]:
    """Show the refund that was given, or that it waits."""
    if isinstance(found, Approval):
        return waiting(found, who)
    return Answer(content=refund(found, who))
