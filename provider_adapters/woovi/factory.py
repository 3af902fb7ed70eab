"""How the registry makes Woovi adapters: their settings, and the adapter from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import (
    Capabilities,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.domain.bank.charges import ChargeStatus
from gateway.domain.bank.payout_orders import PayoutMethod
from provider_adapters.kit.client import client_of
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import (
    ALL_OPERATIONS,
    AccountLimits,
    CallRate,
    ClientLimits,
    TlsFiles,
    address_of,
    settings_of,
)
from provider_adapters.woovi.adapter import WooviAdapter
from provider_adapters.woovi.documents import HARMLESS
from provider_adapters.woovi.requests import LARGEST_PAGE, WooviSecrets

HOSTS: Final = Hosts(
    production=frozenset({"api.woovi.com", "api.openpix.com.br"}),
    sandbox=frozenset({"api.woovi-sandbox.com"}),
)
"""docs/webhook/seguranca/webhook-public-keys.md; ``servers`` of the OpenAPI document."""
_ADDRESSES: Final[Mapping[Environment, str]] = {
    Environment.PRODUCTION: "https://api.woovi.com",
    Environment.SANDBOX: "https://api.woovi-sandbox.com",
}
LIMITS: Final = AccountLimits(rates={ALL_OPERATIONS: CallRate(rate=10, burst=10)})
"""docs/apis/api-getting-started.md: "não pode exceder 10 solicitações/segundo"."""
_LACKS: Final = frozenset(
    {PortCall.LIST_BLOCKS, PortCall.LIST_MISSED_EVENTS, PortCall.ACKNOWLEDGE_EVENTS}
)
CAPABILITIES: Final = Capabilities(
    calls=frozenset(PortCall) - _LACKS,
    destinations=frozenset(PayoutMethod),
    repeat=Repeat.REFUSES,
    lookup=frozenset({Lookup.KEY}),
    # No document says when a payout is visible: that it cannot be found proves nothing.
    absent_after=None,
    account_credentials=True,
    blocked_known=True,
    charge_states=frozenset({ChargeStatus.ACTIVE, ChargeStatus.PAID}),
    callback_proofs=frozenset({ProofKind.RSA, ProofKind.HMAC}),
    hosts=HOSTS,
    # "The tax identifier … should be a raw string with only digits" (the bank's OpenAPI document).
    alphanumeric_cnpj=False,
    largest_page=LARGEST_PAGE,
)
"""What no document of the bank states is not declared; the README has the reasons."""


class WooviSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the bank is.

    Attributes:
        base_url: One of the bank's hosts in this environment, or this machine in the sandbox
            environment; empty for the bank's usual one.
        limits: The bank allows each account ten calls a second, unless these say otherwise.
    """

    base_url: str = ""
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()


class WooviFactory:
    """Makes Woovi adapters; an ``AdapterFactory``."""

    PORT = 1
    settings = WooviSettings
    capabilities = CAPABILITIES
    adapter = WooviAdapter
    account_secrets = WooviSecrets

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> WooviAdapter:
        """
        Make the adapter; see ``AdapterFactory``.

        Raises:
            AdapterRefused: For wrong settings, and a host of the other environment.
        """
        chosen = settings_of(context.name, WooviSettings, settings)
        base_url = address_of(
            f"providers.{context.name}.settings.base_url",
            chosen.base_url or _ADDRESSES[context.environment],
            context.environment,
            HOSTS,
        )
        limits = chosen.limits.within(LIMITS)
        return WooviAdapter(
            name=context.name,
            capabilities=CAPABILITIES,
            client=client_of(context, base_url, HARMLESS, limits, chosen.tls),
            now=context.runtime.now,
            clock=context.runtime.clock,
        )
