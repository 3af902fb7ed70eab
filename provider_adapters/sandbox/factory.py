"""The factory of sandbox adapters and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final

import msgspec

from gateway.banks.port.capabilities import (
    Capabilities,
    EntryField,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.pix_keys import PixKeyType
from gateway.core.account import Environment
from provider_adapters.kit.client import client_of
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.kit.settings import ClientLimits, TlsFiles, loopback_of, settings_of
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.documents import HARMLESS
from provider_adapters.sandbox.requests import LARGEST_PAGE

# The bank executes a payout as soon as it has read it, before it answers or hangs. When the
# lease is over the connection has long been closed, so a payout not seen by then will never be
# executed. The seconds allow for a machine that stood still.
_ABSENT_AFTER_S = 5.0
_PAYOUT_CALLS: Final = frozenset({PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The sandbox bank's address, and the kind of provider that it simulates.

    All but the address, the limits and TLS restrict the bank's capabilities, so
    that every kind of provider can be tried. ``repeat`` must match the setting
    of the bank's account.

    Attributes:
        base_url: On this machine only.
        payouts: False makes its accounts read-only.
        lacks: Calls of the port that it does not offer.
        absent_after_s: Null if nothing can prove a payout absent.
        key_types: The types of PIX keys that payouts may go to.
        banks: The bank numbers that payouts may go to; null for all.
        alphanumeric_cnpj: False refuses the CNPJ with letters.
    """

    base_url: str = "http://127.0.0.1:8090"
    payouts: bool = True
    lacks: frozenset[PortCall] = frozenset()
    repeat: Repeat = Repeat.SAME_ANSWER
    lookup_by_key: bool = True
    absent_after_s: Annotated[float, msgspec.Meta(ge=0)] | None = _ABSENT_AFTER_S
    alphanumeric_cnpj: bool = True
    key_types: frozenset[PixKeyType] = frozenset(PixKeyType)
    banks: frozenset[str] | None = None
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()

    def capabilities(self) -> Capabilities:
        """Return the provider's capabilities."""
        lacks = self.lacks if self.payouts else self.lacks | _PAYOUT_CALLS
        calls = frozenset(PortCall) - lacks
        pays, looks = PortCall.CREATE_PAYOUT in calls, PortCall.FIND_PAYOUT in calls
        by = frozenset(Lookup) if self.lookup_by_key else frozenset({Lookup.BANK_ID})
        proves_absence = looks and self.absent_after_s is not None
        return Capabilities(
            calls=calls,
            destinations=frozenset(PayoutMethod) if pays else frozenset(),
            repeat=self.repeat,
            lookup=by if looks else frozenset(),
            absent_after=timedelta(seconds=self.absent_after_s or 0) if proves_absence else None,
            account_credentials=True,
            entry_fields=frozenset(EntryField) if PortCall.LIST_STATEMENT in calls else frozenset(),
            blocked_known=PortCall.GET_BALANCE in calls,
            charge_states=frozenset(ChargeStatus),
            callback_proofs=frozenset({ProofKind.HMAC}),
            alphanumeric_cnpj=self.alphanumeric_cnpj,
            largest_page=LARGEST_PAGE,
        )


class SandboxFactory:
    """Makes sandbox adapters; an ``AdapterFactory``."""

    PORT = 1
    settings = SandboxSettings
    capabilities = SandboxSettings().capabilities()
    adapter = SandboxAdapter

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> SandboxAdapter:
        """
        Make the adapter; see ``AdapterFactory``.

        Raises:
            AdapterRefused: Outside the sandbox environment, for an address on
                another machine, and for wrong settings.
        """
        if context.environment is not Environment.SANDBOX:
            message = (
                f"providers.{context.name}: the sandbox bank moves no money and is refused here"
            )
            raise AdapterRefused(message)
        chosen = settings_of(context.name, SandboxSettings, settings)
        place = f"providers.{context.name}.settings.base_url"
        base_url = loopback_of(place, chosen.base_url)
        return SandboxAdapter(
            capabilities=chosen.capabilities(),
            client=client_of(context, base_url, HARMLESS, chosen.limits, chosen.tls),
            now=context.runtime.now,
            key_types=chosen.key_types,
            banks=chosen.banks,
        )
