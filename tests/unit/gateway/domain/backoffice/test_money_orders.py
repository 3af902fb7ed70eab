"""Orders as one text, and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.domain.backoffice.approvals import ApprovalKind
from gateway.domain.backoffice.money_orders import kind_of, read_payout, read_refund, written
from gateway.domain.bank.payout_orders import AccountType, BankDestination, PayoutMethod
from gateway.domain.bank.refunds import RefundRequest
from gateway.domain.kernel.money import Money
from tests.world.payouts import asking

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


def test_a_refund_is_read_back_whole():
    assert read_refund(written(REFUND)) == REFUND
    assert kind_of(REFUND) is ApprovalKind.REFUND
