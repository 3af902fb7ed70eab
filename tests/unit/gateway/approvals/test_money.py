"""Orders of money as one text, and back; and how one that was agreed to ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.approvals.money import (
    kind_of,
    order_document,
    outcome_of,
    read_refund,
    written,
)
from gateway.banks.port.charges import Payer
from gateway.banks.port.payout_orders import AccountType, BankDestination, PayoutMethod
from gateway.banks.port.providers import (
    BadReply,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.banks.port.refunds import IncomingPayment
from gateway.core import errors
from gateway.core.approvals import ApprovalKind, Outcome
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts.create import CERTAINLY_NOT_SENT
from gateway.payouts.order_text import read_payout
from gateway.refunds.orders import RefundRequest
from tests.world.payouts import asking
from tests.world.standing import NOON
from tests.world.stores.office import APPROVAL

TO_AN_ACCOUNT = replace(
    asking("pedido \u2028 1"),
    method=PayoutMethod.BANK_ACCOUNT,
    destination=BankDestination(
        name="Maria",
        tax_number="52998224725",
        bank_number="341",
        branch="0001",
        account="123456-7",
        account_type=AccountType.SAVINGS,
    ),
)
REFUND = RefundRequest(reference="r-1", payment="order-1", value=Money(1), description="ção")


@pytest.mark.parametrize("order", [asking(), TO_AN_ACCOUNT], ids=["pix", "account"])
def test_a_payout_is_read_back_whole(order):
    assert read_payout(written(order)) == order
    assert kind_of(order) is ApprovalKind.PAYOUT


def test_a_refund_order_is_read_back_unchanged():
    assert read_refund(written(REFUND)) == REFUND
    assert kind_of(REFUND) is ApprovalKind.REFUND


def test_a_refund_shows_its_payment_and_payer():
    """If the bank returned them, and with the CPF masked as everywhere."""
    payer = Payer(name="Ana", tax_number="52998224725")
    received = IncomingPayment(
        reference="order-1",
        e2e_id="",
        provider_id="",
        value=Money(500),
        refunded=Money(0),
        paid_at=NOON,
        payer=payer,
    )
    approval = replace(APPROVAL, kind=ApprovalKind.REFUND)

    shown = order_document(approval, written(REFUND, received), whole=True)

    assert read_refund(written(REFUND, received)) == REFUND
    assert shown.get("received") == {
        "value": Money(500),
        "payer_name": "Ana",
        "payer_tax_number": "***.982.247-**",
    }
    assert "received" not in order_document(approval, written(REFUND), whole=True)


@pytest.mark.parametrize(
    ("problem", "outcome", "code"),
    [
        (ServiceError(errors.PAYOUT_REJECTED, "rejected"), Outcome.REFUSED, "SVC.PIX.010"),
        (ServiceError(errors.PAYOUT_NOT_ALLOWED, "rejected"), Outcome.REFUSED, "SVC.PIX.010"),
        (ServiceError(errors.PAYOUTS_STOPPED, "stopped"), Outcome.NOT_SENT, "SVC.PIX.010"),
        (ServiceError(errors.PAYOUT_NOT_ALLOWED, "similar"), Outcome.NOT_SENT, "SVC.PIX.010"),
        (ServiceError(errors.OVERLOADED, "store_full"), Outcome.NOT_SENT, "SVC.GTW.006"),
        *(
            (ServiceError(error, "dns"), Outcome.NOT_SENT, "SVC.ACC.005")
            for error in CERTAINLY_NOT_SENT
        ),
        (ServiceError(errors.PAYOUT_UNKNOWN, "timeout"), Outcome.UNKNOWN, ""),
        (ServiceError(errors.BANK_REFUSED, "too_late"), Outcome.REFUSED, "SVC.GTW.008"),
        (Refused("too_late"), Outcome.REFUSED, "SVC.GTW.008"),
        (NotFound("absent"), Outcome.REFUSED, "SVC.PIX.017"),
        (NotSupported("not_supported"), Outcome.REFUSED, "SVC.ACC.005"),
        (Unreachable("refused"), Outcome.NOT_SENT, "SVC.ACC.005"),
        (OutcomeUnknown("timeout"), Outcome.UNKNOWN, ""),
        (Unavailable("status"), Outcome.UNKNOWN, ""),
        (BadReply("malformed"), Outcome.UNKNOWN, ""),
    ],
    ids=repr,
)
def test_a_failure_is_mapped_to_an_outcome(problem: Exception, outcome: Outcome, code: str):
    assert outcome_of(problem) == (outcome, code)


@pytest.mark.parametrize("problem", [StoreUnavailable("away"), RuntimeError("a mistake")])
def test_an_inconclusive_failure_has_no_outcome(problem: Exception):
    """The next approval completes it."""
    assert outcome_of(problem) is None
