"""The factory of Woovi adapters and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.capabilities import Capabilities, Hosts, Lookup, PortCall, ProofKind, Repeat
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.core.account import Environment
from provider_adapters.kit.client import client_at
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import (
    ALL_OPERATIONS,
    AccountLimits,
    BankSettings,
    CallRate,
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
_USUAL: Final = {
    Environment.PRODUCTION: "api.woovi.com",
    Environment.SANDBOX: "api.woovi-sandbox.com",
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


class WooviFactory:
    """Makes Woovi adapters; an ``AdapterFactory``."""

    PORT = 1
    settings = BankSettings
    capabilities = CAPABILITIES
    adapter = WooviAdapter
    account_secrets = WooviSecrets

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> WooviAdapter:
        """
        Make the adapter; see ``AdapterFactory``.

        Raises:
            AdapterRefused: For wrong settings, and a host of the other environment.
        """
        chosen = settings_of(context.name, BankSettings, settings)
        return WooviAdapter(
            capabilities=CAPABILITIES,
            client=client_at(
                context,
                chosen,
                HOSTS,
                HARMLESS,
                declared=LIMITS,
                usual=_USUAL[context.environment],
            ),
            now=context.runtime.now,
            clock=context.runtime.clock,
        )
