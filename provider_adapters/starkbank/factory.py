"""The factory of Stark Bank's adapters and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gateway.banks.port.capabilities import Capabilities, Hosts, Lookup, PortCall, ProofKind, Repeat
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from provider_adapters.kit.client import client_at
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.settings import BankSettings, settings_of
from provider_adapters.starkbank.adapter import StarkBankAdapter
from provider_adapters.starkbank.documents import HARMLESS
from provider_adapters.starkbank.requests import LARGEST_PAGE, Secrets

HOSTS: Final = Hosts(
    production=frozenset({"api.starkbank.com"}),
    sandbox=frozenset({"sandbox.api.starkbank.com"}),
)
"""Source: SDK, ``starkcore.utils.request``."""

_LACKS: Final = frozenset(
    {
        # A workspace is made with its random key; no call makes or removes one.
        PortCall.CREATE_KEY,
        PortCall.CANCEL_KEY,
        # Deposits and invoices are given back by a new amount, without an id of ours.
        PortCall.CREATE_REFUND,
        PortCall.FIND_REFUND,
        PortCall.LIST_REFUNDS,
        # A balance does not tell what is blocked.
        PortCall.LIST_BLOCKS,
    }
)
CAPABILITIES: Final = Capabilities(
    calls=frozenset(PortCall) - _LACKS,
    destinations=frozenset(PayoutMethod),
    repeat=Repeat.REFUSES,
    lookup=frozenset({Lookup.KEY}),
    account_credentials=True,
    # Movements repeat our key, and stand there before a transfer is settled: they prove nothing.
    entry_fields=frozenset(),
    charge_states=frozenset(ChargeStatus),
    callback_proofs=frozenset({ProofKind.ECDSA}),
    hosts=HOSTS,
    largest_page=LARGEST_PAGE,
)


class StarkBankSettings(BankSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The bank's settings.

    Attributes:
        public_keys: The keys, in PEM, that the bank signs callbacks with; empty to
            read them from the bank.
    """

    public_keys: tuple[str, ...] = ()


class StarkBankFactory:
    """Makes adapters of Stark Bank; an ``AdapterFactory``."""

    PORT = 1
    settings = StarkBankSettings
    capabilities = CAPABILITIES
    adapter = StarkBankAdapter
    account_secrets = Secrets

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> StarkBankAdapter:
        """
        Make the adapter; see ``AdapterFactory``.

        Raises:
            AdapterRefused: For wrong settings, and a host of the other environment.
        """
        chosen = settings_of(context.name, StarkBankSettings, settings)
        return StarkBankAdapter(
            capabilities=CAPABILITIES,
            client=client_at(context, chosen, HOSTS, HARMLESS),
            environment=context.environment,
            now=context.runtime.now,
            clock=context.runtime.clock,
            public_keys=chosen.public_keys,
        )
