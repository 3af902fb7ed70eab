"""What several tests of payouts share."""

from __future__ import annotations

import json

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.core.money import Money
from provider_adapters.kit.answers import ProviderAnswer

KEY = "0" * 32
MARIA = PixDestination(
    name="Maria", tax_number="52998224725", key_type=PixKeyType.EMAIL, key="m@example.com"
)
AT_ITAU = BankDestination(
    name="Maria",
    tax_number="11222333000181",
    bank_number="341",
    branch="0001-9",
    account="12345-6",
    account_type=AccountType.SAVINGS,
)


def order(destination: PixDestination | BankDestination = MARIA) -> PayoutOrder:
    method = PayoutMethod.PIX if destination is MARIA else PayoutMethod.BANK_ACCOUNT
    return PayoutOrder(
        provider_key=KEY, method=method, value=Money(1231), destination=destination, description=""
    )


def said(status: int, document: object) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={}, body=json.dumps(document).encode())
