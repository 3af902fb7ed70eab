"""An adapter of a bank that knows each account by a certificate of its own, made of the kit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import pytest

from gateway.banks.port.capabilities import Capabilities, Hosts, PortCall
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.banks.port.providers import Accepted, Outcome, ProviderAccount
from gateway.banks.port.statements import Balance
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from provider_adapters import registry
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.requests import ProviderRequest, as_account, get, paying
from provider_adapters.kit.secrets import (
    PemCertificate,
    PemKey,
    SecretText,
    client_of_accounts,
    identity_of,
    secrets_of,
)
from provider_adapters.kit.settings import ClientLimits, TlsFiles, address_of, settings_of

HOSTS = Hosts(
    production=frozenset({"api.bank.example"}), sandbox=frozenset({"sandbox.bank.example"})
)


class CertifiedSecrets(msgspec.Struct, frozen=True, kw_only=True):
    client_id: SecretText
    certificate: PemCertificate
    key: PemKey


class CertifiedSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the bank is."""

    base_url: str
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedAdapter:
    """Asks for a balance and orders payouts; offers nothing else."""

    client: ProviderClient
    capabilities: Capabilities

    async def start(self) -> None:
        await self.client.start()

    async def close(self) -> None:
        await self.client.close()

    async def probe(self) -> None:
        await self.client.read(get("probe", "/", {}), lambda _: None)

    async def get_balance(self, account: ProviderAccount) -> Balance:
        return await self.client.read(_asked("get_balance", "/balance", account), _balance)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        asked = _asked("create_payout", "/payouts", account)
        request = paying(asked, {}, order.provider_key, header="Idempotency-Key")
        return await self.client.pay(request, _accepted, send_by)


class CertifiedFactory:
    """Makes them; an ``AdapterFactory`` and a ``SecretsFactory``."""

    PORT = 1
    adapter = CertifiedAdapter
    capabilities = Capabilities(
        calls=frozenset({PortCall.PROBE, PortCall.GET_BALANCE, PortCall.CREATE_PAYOUT}),
        destinations=frozenset(PayoutMethod),
        account_credentials=True,
        blocked_known=True,
        hosts=HOSTS,
    )
    settings = CertifiedSettings
    account_secrets = CertifiedSecrets

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> CertifiedAdapter:
        chosen = settings_of(context.name, CertifiedSettings, settings)
        path = f"providers.{context.name}.settings.base_url"
        base_url = address_of(path, chosen.base_url, context.environment, HOSTS)
        client = client_of_accounts(context, base_url, (), chosen.limits, chosen.tls)
        return CertifiedAdapter(client=client, capabilities=self.capabilities)


def registered(monkeypatch: pytest.MonkeyPatch, name: str = "certified") -> None:
    """Have the adapter found by a name, for the time of a test."""
    monkeypatch.setattr(registry, "ADAPTERS", {**registry.ADAPTERS, name: CertifiedFactory()})


def _asked(operation: str, path: str, account: ProviderAccount) -> ProviderRequest:
    headers = {"X-Client": secrets_of(account, CertifiedSecrets).client_id}
    return as_account(get(operation, path, headers), identity_of(account))


def _balance(answer: ProviderAnswer) -> Balance:
    held = Money(msgspec.json.decode(answer.body)["centavos"])
    return Balance(balance=held, blocked=Money(0), updated_at=None)


def _accepted(answer: ProviderAnswer) -> Outcome:
    return Accepted(evidence=answer.evidence("answered"))
