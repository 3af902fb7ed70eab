"""The registry's interface to a bank's package, ours or a third party's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import msgspec

from gateway.banks.client.tls import TlsFiles, TlsSetup
from gateway.banks.client.transport import HttpTransport, Transport, TransportLimits
from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.providers import ProviderAdapter
from gateway.core.account import Environment
from gateway.core.cache import Cache
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer
from provider_adapters.kit.limits import ClientLimits

MakeTransport = Callable[
    [str, TransportLimits, Environment, Runtime, TlsFiles | TlsSetup], Transport
]
"""What carries a provider's requests, made as ``HttpTransport`` is; it opens nothing yet."""


def _unheard(_limits: ClientLimits) -> None:
    """Ignore limits: no share of them is needed."""


class AdapterRefused(Exception):
    """An adapter cannot be used as configured; the message is for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterContext:
    """
    An adapter's dependencies besides its settings.

    Attributes:
        name: The provider's name, as configured.
        environment: Ours; an adapter reaches only banks of the same one.
        observer: Gets every call.
        runtime: Clocks, randomness, sleep and fail points: an adapter has no
            others, so that whole lives of it can be simulated, and its process
            ended at a given point.
        transport: Makes the transport of requests: HTTP, unless whole lives are simulated.
        on_limits: Called with the limits of each client: from the settings, with what
            the bank allows its accounts.
        cache: Keeps what is dear to fetch, such as access tokens; what several
            processes share is sealed. None where there is no cache.
    """

    name: str
    environment: Environment
    observer: Observer
    runtime: Runtime = field(default_factory=Runtime)
    transport: MakeTransport = HttpTransport
    on_limits: Callable[[ClientLimits], None] = _unheard
    cache: Cache | None = None


class AdapterFactory(Protocol):
    """
    Makes adapters of one bank; an entry point of ``pixgate.provider_adapters`` names one.

    All of it is checked when it is loaded, see ``provider_adapters.checks``.

    Attributes:
        PORT: The version of the port that it was written for; see
            ``gateway.banks.port.capabilities.PORT``.
        capabilities: The bank's capabilities; the settings of a provider may
            take from it, and never add to it.
        adapter: The class of the made adapters.
        settings: The struct of the provider's part of ``config.yaml``; it
            forbids unknown fields.
    """

    @property
    def PORT(self) -> int:  # noqa: N802 - a constant of the package
        """See above."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """See above."""
        ...

    @property
    def adapter(self) -> type[ProviderAdapter]:
        """See above."""
        ...

    @property
    def settings(self) -> type[msgspec.Struct]:
        """See above."""
        ...

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> ProviderAdapter:
        """
        Make the adapter of the provider that the context names; it opens nothing yet.

        Raises:
            AdapterRefused: The settings are wrong, or the bank must not be
                used in this environment.
        """
        ...


@runtime_checkable
class ProfilesFactory(Protocol):
    """The further part of an ``AdapterFactory`` whose settings choose among several banks."""

    @property
    def profiles(self) -> Mapping[str, Capabilities]:
        """Capabilities of each bank, by its profile's name in the settings."""
        ...


def profiles_of(factory: object) -> Mapping[str, Capabilities]:
    """Return a factory's capabilities of each profile; nothing for an adapter of one bank."""
    return factory.profiles if isinstance(factory, ProfilesFactory) else {}
