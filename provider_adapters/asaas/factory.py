"""How the registry makes Asaas adapters: their settings, and the adapter from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import (
    Capabilities,
    EntryField,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.domain.bank.charges import ChargeStatus
from gateway.domain.bank.payout_orders import PayoutMethod
from provider_adapters.asaas.adapter import AsaasAdapter
from provider_adapters.asaas.documents import HARMLESS
from provider_adapters.asaas.pix_charges import PixCharges
from provider_adapters.asaas.requests import LARGEST_PAGE
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit.client import client_of
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import (
    AccountLimits,
    ClientLimits,
    TlsFiles,
    address_of,
    settings_of,
)

HOSTS: Final = Hosts(
    production=frozenset({"api.asaas.com"}),
    sandbox=frozenset({"api-sandbox.asaas.com"}),
)
"""Source: docs.asaas.com/docs/authentication, 22 November 2026."""
CONCURRENT_CALLS: Final = AccountLimits(in_flight=50)
"""The bank counts GETs alone (docs.asaas.com/reference/api-limits, 22 November 2026)."""
_HOST: Final = {
    Environment.PRODUCTION: "https://api.asaas.com",
    Environment.SANDBOX: "https://api-sandbox.asaas.com",
}
_CAN: Final = Capabilities(
    calls=frozenset(
        {
            PortCall.PROBE,
            PortCall.GET_BALANCE,
            PortCall.LIST_STATEMENT,
            PortCall.LIST_KEYS,
            PortCall.GET_KEY,
            PortCall.GET_CHARGE,
            PortCall.GET_CHARGE_PAYMENT,
            PortCall.CREATE_PAYOUT,
            PortCall.FIND_PAYOUT,
            PortCall.CREATE_KEY,
            PortCall.CANCEL_KEY,
            PortCall.CREATE_CHARGE,
            PortCall.CANCEL_CHARGE,
            PortCall.FIND_RECEIVED,
            PortCall.LIST_RECEIVED,
            PortCall.REGISTER_CALLBACK,
            PortCall.LIST_CALLBACKS,
            PortCall.REMOVE_CALLBACK,
        }
    ),
    destinations=frozenset(PayoutMethod),
    repeat=Repeat.IGNORES,
    lookup=frozenset({Lookup.BANK_ID}),
    absent_after=None,
    account_credentials=True,
    entry_fields=frozenset({EntryField.KIND}),
    blocked_known=False,
    charge_states=frozenset(ChargeStatus),
    callback_proofs=frozenset({ProofKind.TOKEN}),
    hosts=HOSTS,
    largest_page=LARGEST_PAGE,
)


class AsaasSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the bank is.

    Attributes:
        base_url: Empty for the bank's host of the environment.
        callback_email: Whom the bank tells that it cannot deliver callbacks; may be empty.
    """

    base_url: str = ""
    callback_email: str = ""
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()


class AsaasFactory:
    """Makes Asaas adapters; an ``AdapterFactory``."""

    PORT = 1
    settings = AsaasSettings
    account_secrets = AsaasSecrets
    capabilities = _CAN
    adapter = AsaasAdapter

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> AsaasAdapter:
        """Make the adapter; see ``AdapterFactory``."""
        chosen = settings_of(context.name, AsaasSettings, settings)
        url = chosen.base_url or _HOST[context.environment]
        place = f"providers.{context.name}.settings.base_url"
        base_url = address_of(place, url, context.environment, HOSTS)
        limits = chosen.limits.within(CONCURRENT_CALLS)
        return AsaasAdapter(
            capabilities=_CAN,
            client=client_of(context, base_url, HARMLESS, limits, chosen.tls),
            now=context.runtime.now,
            pix_charges=PixCharges(context.runtime.clock),
            callback_email=chosen.callback_email,
        )
