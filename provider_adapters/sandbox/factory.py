"""How the registry makes sandbox adapters: their settings, and the adapter from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated

import msgspec

from gateway.domain.accounts.accounts import Environment
from gateway.domain.backoffice.callbacks import CallbackProof
from gateway.domain.bank.provider_options import Option
from gateway.domain.bank.providers import Capabilities, Repeat
from gateway.domain.kernel.clocks import Now
from gateway.net.client.addresses import AddressRefused, loopback_address
from gateway.net.client.tls import TlsFiles
from gateway.net.client.transport import HttpTransport
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer
from provider_adapters._shared.factory import AdapterRefused, settings_of
from provider_adapters._shared.http import ClientParts, ProviderClient
from provider_adapters._shared.limits import ClientLimits
from provider_adapters._shared.transcript import Transcript
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.callbacks import SandboxProof, token_of
from provider_adapters.sandbox.documents import HARMLESS
from provider_adapters.sandbox.requests import LARGEST_PAGE

# The bank executes a payout as soon as it has read it, before it answers or hangs. When the
# lease is over the connection has long been closed, so a payout not seen by then will never be
# executed. The seconds allow for a machine that stood still.
_ABSENT_AFTER_S = 5.0


class SandboxSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the sandbox bank is, and what kind of provider it acts as.

    All but the address, the limits and TLS restrict what the bank can do, so
    that every kind of provider can be tried. ``repeat`` must match the setting
    of the bank's account.

    Attributes:
        base_url: On this machine only.
        payouts: False makes its accounts read-only.
        lacks: Optional operations that it does not offer.
        absent_after_s: Null if nothing can prove a payout absent.
        alphanumeric_cnpj: False refuses the CNPJ with letters.
    """

    base_url: str = "http://127.0.0.1:8090"
    payouts: bool = True
    lacks: frozenset[Option] = frozenset()
    repeat: Repeat = Repeat.SAME_ANSWER
    lookup_by_key: bool = True
    absent_after_s: Annotated[float, msgspec.Meta(ge=0)] | None = _ABSENT_AFTER_S
    alphanumeric_cnpj: bool = True
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()

    def capabilities(self) -> Capabilities:
        """Return what the provider declares."""
        absent = self.absent_after_s
        return Capabilities(
            operations=frozenset(option.value for option in frozenset(Option) - self.lacks),
            payouts=self.payouts,
            repeat=self.repeat,
            lookup_by_key=self.lookup_by_key,
            absent_after=None if absent is None else timedelta(seconds=absent),
            account_credentials=True,
            alphanumeric_cnpj=self.alphanumeric_cnpj,
            largest_page=LARGEST_PAGE,
        )


class SandboxFactory:
    """Makes sandbox adapters; an ``AdapterFactory`` and a ``CallbackFactory``."""

    settings = SandboxSettings
    capabilities = SandboxSettings().capabilities()

    def __init__(self, runtime: Runtime | None = None) -> None:
        """Use the process's clocks and randomness, unless a test passes its own."""
        self._runtime = runtime or Runtime()

    def __call__(
        self,
        name: str,
        settings: Mapping[str, object],
        environment: Environment,
        observer: Observer,
    ) -> SandboxAdapter:
        """
        Make the adapter; see ``AdapterFactory``.

        Raises:
            AdapterRefused: Outside the sandbox environment, for an address on
                another machine, and for wrong settings.
        """
        if environment is not Environment.SANDBOX:
            message = f"providers.{name}: the sandbox bank moves no money and is refused here"
            raise AdapterRefused(message)
        chosen = settings_of(name, SandboxSettings, settings)
        return SandboxAdapter(
            name=name,
            capabilities=chosen.capabilities(),
            client=self._client(name, chosen, observer),
            observer=observer,
            now=self._runtime.now,
        )

    def proof(self, secrets: Sequence[bytes], now: Now) -> CallbackProof:
        """Make the check of the bank's callbacks; see ``CallbackFactory``."""
        return SandboxProof(secrets, now)

    def token(self, secret: bytes) -> str:
        """Return the last step of the callbacks' path."""
        return token_of(secret)

    def _client(self, name: str, chosen: SandboxSettings, observer: Observer) -> ProviderClient:
        """Make the client; it opens nothing yet."""
        runtime = self._runtime
        if runtime.on_certificate is None:
            on_certificate = partial(observer.certificate, name)
            runtime = dataclasses.replace(runtime, on_certificate=on_certificate)
        transport = HttpTransport(
            _base_url(name, chosen), chosen.limits, Environment.SANDBOX, runtime, chosen.tls
        )
        return ProviderClient(
            ClientParts(
                provider=name,
                transport=transport,
                limits=chosen.limits,
                observer=observer,
                transcript=Transcript(name, HARMLESS),
                runtime=runtime,
            )
        )


def _base_url(name: str, settings: SandboxSettings) -> str:
    """Return the bank's address, which must be on this machine."""
    try:
        return loopback_address(settings.base_url)
    except AddressRefused as problem:
        message = f"providers.{name}.settings.base_url: {problem}"
        raise AdapterRefused(message) from problem
