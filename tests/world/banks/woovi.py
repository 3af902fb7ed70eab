"""What the tests of the Woovi adapter share: an account, orders, answers."""

from __future__ import annotations

import json

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
)
from gateway.banks.port.providers import ProviderAccount
from gateway.banks.port.refunds import RefundOrder
from gateway.core.money import Money
from provider_adapters.woovi.requests import WooviSecrets
from tests.world.banks.harness import KEY

ACCOUNT = ProviderAccount(
    account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f",
    provider_account="6290ccfd42831958a405debc",
    secrets=WooviSecrets(app_id="Q2xpZW50X0lkXzE="),
)
PAID_IN = "E18236120202611221030s0133872GZA"
"""The end-to-end id of a payment received."""
SETTLED = "E54811417202611221031dYr4Cp2gfAp"
"""The end-to-end id of a payout."""


def answer(document: object, status: int = 200) -> ProviderAnswer:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ProviderAnswer(status=status, headers={}, body=body)


def refused(text: str, status: int = 400, code: str = "") -> ProviderAnswer:
    return answer({"error": text, **({"errorCode": code} if code else {})}, status)


def by_account(bank_number: str = "341", tax_number: str = "52998224725") -> PayoutOrder:
    return PayoutOrder(
        provider_key=KEY,
        method=PayoutMethod.BANK_ACCOUNT,
        value=Money(1050),
        destination=BankDestination(
            name="Maria Silva",
            tax_number=tax_number,
            bank_number=bank_number,
            branch="0001",
            account="123456",
            account_type=AccountType.CHECKING,
        ),
        description="aluguel",
    )


def refund(description: str = "troca") -> RefundOrder:
    """An order to give R$ 4.00 back."""
    return RefundOrder(
        provider_key=KEY,
        reference="ref/1",
        payment_e2e_id=PAID_IN,
        value=Money(400),
        description=description,
    )
