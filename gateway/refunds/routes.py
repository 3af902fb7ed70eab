"""Payments received and refunds in the back office (contract 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from gateway.banks.failures import REFUND_FAILS, bank_fails
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus
from gateway.charges import documents as charge_documents
from gateway.charges.documents import PaymentFields
from gateway.core import errors, fields
from gateway.core.fields import meaning
from gateway.core.schemas import Instant, instant
from gateway.http.rendering import Amount
from gateway.http.route import OK
from gateway.http.routing import CHANGES, READS, Routes
from gateway.payouts.documents import FailureDocument
from gateway.refunds.orders import REFUND
from gateway.refunds.searches import INCOMING, REFUNDS
from gateway.refunds.service import Refunds
from policies.validation.inputs import REFERENCE

_PIX: Final = "/accounts/{account_id}/pix"


class IncomingDocument(PaymentFields):
    """A payment that came in; its reference is empty where it paid no charge."""

    id: fields.Id
    status: Annotated[
        Literal["paid", "partly_refunded", "refunded"], meaning("The state that it is in.")
    ]
    refunded: Amount


class RefundedDocument(TypedDict):
    """The payment that is given back; its reference is empty where it paid no charge."""

    reference: fields.Reference
    e2e_id: fields.E2eId


class RefundDocument(TypedDict):
    """A refund; only a failed one has a failure."""

    reference: fields.Reference
    status: Annotated[
        Literal["processing", "paid", "failed"], meaning("The state that it is in.", "paid")
    ]
    value: Amount
    description: fields.Description
    transaction: RefundedDocument
    return_id: Annotated[
        str,
        meaning(
            "The bank's id of the refund; empty before it gives one.",
            "D0000000020261120134011abcdefghi",
        ),
    ]
    created_at: Instant
    settled_at: Instant
    failure: NotRequired[FailureDocument]


def routes(refunds: Refunds) -> Routes:
    """Return the routes."""
    unavailable, absent = errors.TRANSACTION_UNAVAILABLE, errors.TRANSACTION_NOT_FOUND
    office = Routes(fails=bank_fails(unavailable), raises=READS, status=OK)
    office.post(
        f"{_PIX}/transactions/search",
        "pix_transactions",
        refunds.received,
        takes={"wanted": INCOMING},
        each=incoming,
    )
    office.post(
        f"{_PIX}/refunds/search",
        "pix_refunds",
        refunds.search,
        takes={"wanted": REFUNDS},
        each=refund,
    )
    office.get(
        f"{_PIX}/refunds/{{reference}}",
        "pix_refund",
        refunds.get,
        takes={"reference": REFERENCE},
        each=refund,
        fails=bank_fails(unavailable, absent),
    )
    office.post(
        f"{_PIX}/transactions/{{reference}}/refunds",
        "pix_refund_create",
        refunds.order,
        takes={"wanted": REFUND},
        each=refund,
        fails=REFUND_FAILS,
        raises=(*CHANGES, errors.PAYOUTS_STOPPED),
    )
    return office


def incoming(found: IncomingPayment) -> IncomingDocument:
    """Show a payment."""
    shown: IncomingDocument = {
        "id": found.provider_id,
        "reference": found.reference,
        "e2e_id": found.e2e_id,
        "status": found.status.value,
        "value": found.value,
        "refunded": found.refunded,
        "paid_at": instant(found.paid_at),
    }
    if found.payer is not None:
        shown["payer"] = charge_documents.payer_for_staff(found.payer)
    return shown


_FAILED: Final = "The refund failed."


_FAILURES: Mapping[FailureCode, str] = {
    FailureCode.REJECTED: "The bank rejected the refund.",
    FailureCode.INSUFFICIENT_FUNDS: "The available balance was not enough.",
    FailureCode.ACCOUNT_INVALID: "The payer's account is not valid any more.",
    FailureCode.LIMIT_EXCEEDED: "A limit of the account was exceeded.",
    FailureCode.NOT_SENT: "The refund was not sent.",
}


def refund(found: Refund) -> RefundDocument:
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
