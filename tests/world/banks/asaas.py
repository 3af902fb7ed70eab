"""What the tests of the Asaas adapter share: an account, orders, answers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import ProviderAccount
from gateway.core.account import Environment
from gateway.core.money import Money
from provider_adapters.asaas.adapter import AsaasAdapter
from provider_adapters.asaas.factory import AsaasFactory
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit.factory import AdapterContext
from tests.world.banks.harness import KEY
from tests.world.banks.witness import Witness

ACCOUNT = ProviderAccount(
    account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f",
    provider_account="acc_1",
    secrets=AsaasSecrets(api_key="$aact_hmlg_000Mzk-key-of-a-test"),
)
E2E = "E19540550202611221031dYr4Cp2gfAp"
TRANSFER = {
    "object": "transfer",
    "id": "777eb7c8-b1a2-4356-8fd8-a1b0644b5282",
    "value": 10.5,
    "status": "PENDING",
    "effectiveDate": None,
    "endToEndIdentifier": None,
    "externalReference": KEY,
    "bankAccount": {"bank": None, "pixAddressKey": "maria@example.com"},
}
"""As the documentation of transfers shows one, for R$ 10.50."""


class Counted:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def answer(
    document: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> ProviderAnswer:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return ProviderAnswer(status=status, headers=headers or {}, body=body)


def refused(status: int, code: str) -> ProviderAnswer:
    return answer({"errors": [{"code": code, "description": "Recusado"}]}, status)


def by_key(kind: PixKeyType, key: str) -> PayoutOrder:
    return PayoutOrder(
        provider_key=KEY,
        method=PayoutMethod.PIX,
        value=Money(1050),
        destination=PixDestination(
            name="Maria Silva", tax_number="52998224725", key_type=kind, key=key
        ),
        description="aluguel",
    )


def by_account(**changes: object) -> PayoutOrder:
    to: dict[str, object] = {
        "name": "Maria Silva",
        "tax_number": "52998224725",
        "bank_number": "341",
        "branch": "0001",
        "account": "123456-7",
        "account_type": AccountType.CHECKING,
    }
    return PayoutOrder(
        provider_key=KEY,
        method=PayoutMethod.BANK_ACCOUNT,
        value=Money(1050),
        destination=BankDestination(**(to | changes)),  # type: ignore[arg-type]
        description="",
    )


def made(
    settings: Mapping[str, object], environment: Environment = Environment.SANDBOX
) -> AsaasAdapter:
    """The adapter of a provider called ``bank``."""
    context = AdapterContext(name="bank", environment=environment, observer=Witness())
    return AsaasFactory()(settings, context)
