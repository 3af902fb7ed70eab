"""How the registry makes sandbox adapters from configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial

from gateway.domain.accounts.accounts import Environment
from gateway.domain.backoffice.callbacks import CallbackProof
from gateway.domain.kernel.clocks import Now
from gateway.net.client.addresses import AddressRefused, loopback_address
from gateway.net.client.transport import HttpTransport
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer
from provider_adapters._shared.factory import AdapterRefused, settings_of
from provider_adapters._shared.http import ClientParts, ProviderClient
from provider_adapters._shared.transcript import Transcript
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.callbacks import SandboxProof, token_of
from provider_adapters.sandbox.documents import HARMLESS
from provider_adapters.sandbox.settings import SandboxSettings


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
        message = f"providers.{name}: base_url {problem}"
        raise AdapterRefused(message) from problem
