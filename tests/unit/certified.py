"""An adapter of a bank that knows each account by a certificate of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import pytest

from gateway.domain.bank.capabilities import Capabilities, Hosts, PortCall
from gateway.domain.bank.payout_orders import PayoutMethod, PayoutOrder
from gateway.domain.bank.providers import (
    Accepted,
    Outcome,
    ProviderAccount,
)
from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.money import Money
from gateway.net.client.account_transports import AccountTransports
from gateway.net.client.messages import Kind, ProviderAnswer, ProviderRequest
from gateway.net.client.tls import TlsFiles, TlsSetup
from provider_adapters import registry
from provider_adapters._road.limits import ClientLimits
from provider_adapters._road.transcript import Transcript
from provider_adapters.kit.client import ClientParts, ProviderClient
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.secrets import (
    PemCertificate,
    PemKey,
    SecretText,
    identity_of,
    secrets_of,
)
from provider_adapters.kit.settings import address_of, settings_of

HOSTS = Hosts(
    production=frozenset({"api.bank.example"}), sandbox=frozenset({"sandbox.bank.example"})
)


class CertifiedSecrets(msgspec.Struct, frozen=True, kw_only=True):
    """What each account shows to the bank."""

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
        await self.get_balance(ProviderAccount(account_id="", provider_account=""))

    async def get_balance(self, account: ProviderAccount) -> Balance:
        request = ProviderRequest(
            operation="get_balance",
            method="GET",
            template="/balance",
            path="/balance",
            headers=_headers(account),
            identity=identity_of(account),
        )
        return await self.client.read(request, _balance)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        request = ProviderRequest(
            operation="create_payout",
            method="POST",
            template="/payouts",
            path="/payouts",
            headers=_headers(account),
            body=b"{}",
            kind=Kind.PAYOUT,
            identity=identity_of(account),
        )
        return await self.client.pay(request, _accepted, send_by)


class CertifiedFactory:
    """Makes them; an ``AdapterFactory`` and a ``SecretsFactory``."""

    PORT = 1
    adapter = CertifiedAdapter
    capabilities = Capabilities(
        calls=frozenset({PortCall.PROBE, PortCall.GET_BALANCE, PortCall.CREATE_PAYOUT}),
        destinations=frozenset(PayoutMethod),
        account_credentials=True,
        hosts=HOSTS,
    )
    settings = CertifiedSettings
    account_secrets = CertifiedSecrets

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> CertifiedAdapter:
        name, environment = context.name, context.environment
        chosen = settings_of(name, CertifiedSettings, settings)
        path = f"providers.{name}.settings.base_url"
        transport = AccountTransports(
            address_of(path, chosen.base_url, environment, HOSTS),
            chosen.limits,
            environment,
            context.runtime,
            TlsSetup(files=chosen.tls, certificate_required=True),
        )
        parts = ClientParts(
            provider=name,
            transport=transport,
            limits=chosen.limits,
            observer=context.observer,
            transcript=Transcript(name, ()),
            runtime=context.runtime,
        )
        return CertifiedAdapter(client=ProviderClient(parts), capabilities=self.capabilities)


def registered(monkeypatch: pytest.MonkeyPatch, name: str = "certified") -> None:
    """Have the adapter found by a name, for the time of a test."""
    monkeypatch.setattr(registry, "ADAPTERS", {**registry.ADAPTERS, name: CertifiedFactory()})


def _headers(account: ProviderAccount) -> Mapping[str, str]:
    if account.secrets is None:
        return {}
    return {"X-Client": secrets_of(account, CertifiedSecrets).client_id}


def _balance(answer: ProviderAnswer) -> Balance:
    held = Money(msgspec.json.decode(answer.body)["centavos"])
    return Balance(balance=held, blocked=Money(0), updated_at=None)


def _accepted(answer: ProviderAnswer) -> Outcome:
    return Accepted(evidence=answer.evidence("answered"))
