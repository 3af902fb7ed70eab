"""Stark Bank's adapter in front of a bank that answers what a test says, in its order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric import ec

from gateway.banks.client.messages import ProviderRequest, SendProgress
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import ProviderAccount, Reason, Unavailable
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.starkbank.adapter import StarkBankAdapter
from provider_adapters.starkbank.factory import StarkBankFactory
from provider_adapters.starkbank.requests import Secrets
from tests.world.banks.signers import private_pem
from tests.world.banks.witness import NOON, Witness

KEY = "0123456789abcdef0123456789abcdef"
PEM = private_pem(ec.SECP256K1())
SECRETS = Secrets(access_id="project/5656565656565656", private_key=PEM)
ACCOUNT = ProviderAccount(
    account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f",
    provider_account="4848484848484848",
    secrets=SECRETS,
)
TO_KEY = PixDestination(
    name="Maria Silva",
    tax_number="52998224725",
    key_type=PixKeyType.EMAIL,
    key="maria@example.com",
)
TO_ACCOUNT = BankDestination(
    name="Maria Silva",
    tax_number="52998224725",
    bank_number="341",
    branch="0001",
    account="1234567",
    account_type=AccountType.CHECKING,
)
ENTRY: Mapping[str, object] = {
    "id": "maria@example.com", "type": "email", "name": "Maria da Silva",
    "taxId": "***.982.247-**", "ownerType": "naturalPerson", "bankName": "Outro Banco",
    "ispb": "88888888", "branchCode": "ZW5j", "accountNumber": "cnlwdGVk",
    "accountType": "savings", "status": "registered",
}  # fmt: skip
TRANSFER: Mapping[str, object] = {
    "id": "5107489032896512", "amount": 1050, "status": "created", "name": "Maria Silva",
    "taxId": "529.982.247-25", "bankCode": "60701190", "branchCode": "0001",
    "accountNumber": "123456-7", "externalId": KEY, "tags": [f"ref:{KEY}"], "fee": 0,
    "created": "2026-11-20T12:00:00.532530+00:00", "updated": "2026-11-20T12:00:01.485644+00:00",
}  # fmt: skip


def order(to: PixDestination | BankDestination = TO_ACCOUNT, centavos: int = 1050) -> PayoutOrder:
    by_key = isinstance(to, PixDestination)
    return PayoutOrder(
        provider_key=KEY,
        method=PayoutMethod.PIX if by_key else PayoutMethod.BANK_ACCOUNT,
        value=Money(centavos),
        destination=to,
        description="",
    )


def answering(document: object, status: int = 200) -> ProviderAnswer:
    return ProviderAnswer(status=status, headers={}, body=json.dumps(document).encode())


def refusing(*codes: str, status: int = 400) -> ProviderAnswer:
    errors = [{"code": code, "message": "no"} for code in codes]
    return answering({"errors": errors}, status)


@dataclass
class Script:
    """A transport that answers in the order given, and is silent after the last."""

    answers: list[ProviderAnswer | None]
    heard: list[ProviderRequest] = field(default_factory=list)

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def call(
        self, request: ProviderRequest, progress: SendProgress, _within_s: float = 60.0
    ) -> ProviderAnswer:
        progress.connecting()
        progress.connected()
        progress.sending()
        self.heard.append(request)
        answer = self.answers.pop(0) if self.answers else None
        if answer is None:
            raise Unavailable(Reason.TIMEOUT)
        progress.answered(answer.status)
        return answer

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [f"{request.method} {request.path}" for request in self.heard]


def made(
    *answers: ProviderAnswer | None,
    settings: Mapping[str, object] | None = None,
    environment: Environment = Environment.SANDBOX,
) -> tuple[StarkBankAdapter, Script]:
    """Make an adapter, and the script that it talks to."""
    script = Script(list(answers))
    context = AdapterContext(
        name="stark",
        environment=environment,
        observer=Witness(),
        runtime=Runtime(now=lambda: NOON),
        transport=lambda *_made_as: script,
    )
    return StarkBankFactory()(settings or {}, context), script
