"""A configured provider's adapter, made the same way wherever it is needed."""

from __future__ import annotations

from msgspec import to_builtins

from gateway.config.settings import Settings
from gateway.net.common.runtime import Failpoint, Runtime
from gateway.operations.bank.checked_adapter import CheckedAdapter
from gateway.runtime.providers import Connection, limits_of
from gateway.telemetry.records import Observer
from provider_adapters.registry import find
from provider_adapters.sandbox.factory import SandboxFactory


def connect(
    name: str, settings: Settings, observer: Observer, failpoint: Failpoint | None = None
) -> Connection:
    """
    Make the adapter of one provider, its answers checked; nothing is opened yet.

    An adapter whose settings have ``limits`` and ``tls`` gets the provider's,
    unless it was given its own.

    Args:
        name: Of the provider, as configured.
        settings: The whole configuration.
        observer: Told of every call.
        failpoint: Called at each point of a payout, if one is armed.

    Raises:
        AdapterRefused: the adapter is unknown or does not take its settings.
    """
    provider = settings.providers[name]
    factory = find(provider.adapter)
    if failpoint is not None and isinstance(factory, SandboxFactory):
        factory = SandboxFactory(Runtime(failpoint=failpoint))
    given = dict(provider.settings)
    for part, ours in {"limits": limits_of(provider), "tls": to_builtins(provider.tls)}.items():
        if part in factory.settings.__struct_fields__:
            given.setdefault(part, ours)
    adapter = factory(name, given, settings.environment, observer)
    return Connection(CheckedAdapter(name, adapter, observer.count), provider.read_only)
