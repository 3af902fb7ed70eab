"""The factory of Asaas adapters and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.capabilities import (
    Capabilities,
    EntryField,
    Hosts,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from provider_adapters.asaas.adapter import AsaasAdapter
from provider_adapters.asaas.documents import HARMLESS
from provider_adapters.asaas.pix_charges import PixCharges
from provider_adapters.asaas.requests import LARGEST_PAGE
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit.client import client_at
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import AccountLimits, BankSettings, settings_of

HOSTS: Final = Hosts(
    production=frozenset({"api.asaas.com"}),
    sandbox=frozenset({"api-sandbox.asaas.com"}),
)
"""Source: docs.asaas.com/docs/authentication, 22 November 2026."""
CONCURRENT_CALLS: Final = AccountLimits(in_flight=50)
"""The bank counts GETs alone (docs.asaas.com/reference/api-limits, 22 November 2026)."""
_LACKS: Final = frozenset(
    {
        PortCall.LOOK_UP_KEY,
        PortCall.CREATE_REFUND,
        PortCall.FIND_REFUND,
        PortCall.LIST_REFUNDS,
        PortCall.LIST_BLOCKS,
        PortCall.LIST_MISSED_EVENTS,
        PortCall.ACKNOWLEDGE_EVENTS,
    }
)
_CAN: Final = Capabilities(
    calls=frozenset(PortCall) - _LACKS,
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


class AsaasSettings(BankSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The bank's settings.

    Attributes:
        callback_email: Where the bank reports undeliverable callbacks; may be empty.
    """

    callback_email: str = ""


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
        return AsaasAdapter(
            capabilities=_CAN,
            client=client_at(context, chosen, HOSTS, HARMLESS, declared=CONCURRENT_CALLS),
            now=context.runtime.now,
            pix_charges=PixCharges(context.runtime.clock),
            callback_email=chosen.callback_email,
        )
