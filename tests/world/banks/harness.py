"""
Every registered adapter on a stage: how it is made, and what an order of it looks like.

A new adapter needs one entry here; the suites then hold for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PayoutOrder,
    PixDestination,
)
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import ProviderAccount, ProviderAdapter
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.telemetry.records import Observer
from provider_adapters import registry
from provider_adapters.apipix.secrets import EfiSecrets
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit.factory import AdapterContext, MakeTransport
from provider_adapters.kit.limits import ALL_OPERATIONS, AccountLimits, ClientLimits
from provider_adapters.starkbank.requests import Secrets as StarkBankSecrets
from provider_adapters.woovi.requests import WooviSecrets
from tests.world.banks.signers import private_pem

KEY = "0123456789abcdef0123456789abcdef"
ACCOUNT = ProviderAccount(
    account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f",
    provider_account="cc_1",
    credentials="token-of-the-bank",
)

SETTINGS: Mapping[str, Callable[[str], dict[str, object]]] = {
    "sandbox": lambda url: {"base_url": url},
    "starkbank": lambda url: {"base_url": url},
    "woovi": lambda url: {"base_url": url},
    "asaas": lambda url: {"base_url": url},
    "apipix": lambda url: {"profile": "efi", "base_url": url},
}
"""What each adapter is configured with for a bank at an address."""

SECRETS: Mapping[str, object] = {
    "starkbank": StarkBankSecrets(access_id="project/1", private_key=private_pem(ec.SECP256K1())),
    "woovi": WooviSecrets(app_id="app-id-of-the-bank"),
    "asaas": AsaasSecrets(api_key="$aact_hmlg_key-of-the-bank"),
    "apipix": EfiSecrets(
        client_id="id",
        client_secret="of-the-bank",
        certificate="certificate",
        key="key",
        pix_key="loja@example.com",
    ),
}
"""What an account shows to a bank that wants more than one text."""


class KnownTokens:
    """A cache in which every access token is known, so that a call is one request."""

    async def get(self, _key: str, _part: int = 0) -> bytes | None:
        return b'{"token":"known","ends_at":4102444800.0,"life_s":3600.0}'

    async def put(self, _key: str, _parts: Sequence[bytes], _ttl_s: float) -> bool:
        return True

    async def drop(self, _key: str) -> None: ...


UNBOUNDED = AccountLimits(in_flight=0, rates={ALL_OPERATIONS: None})
"""The banks' own limits are lifted: they are tested with the kit, and slow everything down."""


def account_of(name: str) -> ProviderAccount:
    return dataclasses.replace(ACCOUNT, secrets=SECRETS.get(name))


@dataclass(frozen=True)
class Now:
    at: float = 0.0

    def __call__(self) -> float:
        return self.at


FAR = Deadline(10.0, Now())
PASSED = Deadline(10.0, Now(10.0))


def order(centavos: int = 1050, key: str = KEY, pix_key: str = "maria@example.com") -> PayoutOrder:
    return PayoutOrder(
        provider_key=key,
        method=PayoutMethod.PIX,
        value=Money(centavos),
        destination=PixDestination(
            name="Maria Silva", tax_number="52998224725", key_type=PixKeyType.EMAIL, key=pix_key
        ),
        description="",
    )


def order_by_account() -> PayoutOrder:
    """Make an order whose first request moves the money: some banks look a key up before."""
    to = BankDestination(
        name="Maria Silva",
        tax_number="52998224725",
        bank_number="341",
        branch="0001",
        account="123456-7",
        account_type=AccountType.CHECKING,
    )
    return dataclasses.replace(order(), method=PayoutMethod.BANK_ACCOUNT, destination=to)


@asynccontextmanager
async def on_stage(
    name: str,
    url: str,
    observer: Observer,
    limits: ClientLimits,
    transport: MakeTransport = HttpTransport,
) -> AsyncIterator[ProviderAdapter]:
    """Make and start an adapter for a bank at ``url``."""
    limits = msgspec.structs.replace(limits, account_limits=UNBOUNDED)
    settings = {**SETTINGS[name](url), "limits": msgspec.to_builtins(limits)}
    context = AdapterContext(
        name=name, environment=Environment.SANDBOX, observer=observer, transport=transport
    )
    adapter = registry.find(name)(settings, context)
    await adapter.start()
    try:
        yield adapter
    finally:
        await adapter.close()
