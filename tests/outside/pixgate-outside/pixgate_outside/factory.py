"""What the entry point names: what the bank can do, and how its adapter is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.capabilities import (
    CONTRACT_CALLS,
    Capabilities,
    EntryField,
    Lookup,
    Repeat,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from provider_adapters.kit.client import client_of
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import address_of, settings_of

from pixgate_outside import proof
from pixgate_outside.access import Access, Secrets
from pixgate_outside.adapter import Adapter
from pixgate_outside.documents import HARMLESS
from pixgate_outside.pages import LARGEST_PAGE
from pixgate_outside.settings import HOSTS, Settings

CAPABILITIES: Final = Capabilities(
    calls=frozenset(CONTRACT_CALLS),
    destinations=frozenset(PayoutMethod),
    repeat=Repeat.SAME_ANSWER,
    lookup=frozenset(Lookup),
    account_credentials=True,
    entry_fields=frozenset(EntryField),
    blocked_known=True,
    charge_states=frozenset(ChargeStatus),
    callback_proofs=frozenset({proof.KIND}),
    hosts=HOSTS,
    largest_page=LARGEST_PAGE,
)
"""
TODO: what the bank's documents say, each with its source.

What is left out is the careful choice: no ``absent_after`` here, so that "not found" never
proves that a payout was not executed.
"""


class Factory:
    """Makes the bank's adapters; an ``AdapterFactory``."""

    PORT = 1
    account_secrets = Secrets
    adapter = Adapter
    capabilities = CAPABILITIES
    settings = Settings

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> Adapter:
        """Make the adapter; raises ``AdapterRefused`` for settings that are wrong."""
        chosen = settings_of(context.name, Settings, settings)
        place = f"providers.{context.name}.settings.base_url"
        base_url = address_of(place, chosen.base_url, context.environment, HOSTS)
        client = client_of(context, base_url, HARMLESS, chosen.limits, chosen.tls)
        return Adapter(
            capabilities=CAPABILITIES,
            client=client,
            access=Access(client, context),
            settings=chosen,
            now=context.runtime.now,
        )


FACTORY: Final = Factory()
