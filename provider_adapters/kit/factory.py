"""What the registry expects of a bank's package, ours or a third party's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

import msgspec

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import Capabilities, Hosts
from gateway.domain.bank.providers import ProviderAdapter
from gateway.net.client.addresses import AddressRefused, bank_address
from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import Observer

Settings = TypeVar("Settings", bound=msgspec.Struct)

# The one message of msgspec that repeats what was given, which may be a secret in a wrong place.
_ECHOED: Final = re.compile(r"Invalid enum value .*", re.DOTALL)


class AdapterRefused(Exception):
    """An adapter cannot be used as configured; the message is for the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterContext:
    """
    What an adapter takes from outside besides its settings.

    Attributes:
        name: Of the provider, as configured.
        environment: Ours; an adapter reaches only banks of the same one.
        observer: Told of every call.
        runtime: Clocks, randomness, sleep and fail points: an adapter has no
            others, so that whole lives of it can be simulated, and its process
            ended at a given point.
    """

    name: str
    environment: Environment
    observer: Observer
    runtime: Runtime = field(default_factory=Runtime)


class AdapterFactory(Protocol):
    """
    Makes adapters of one bank; an entry point of ``pixgate.provider_adapters`` names one.

    All of it is checked when it is loaded, see ``provider_adapters.checks``.

    Attributes:
        PORT: The version of the port that it was written for; see
            ``gateway.domain.bank.capabilities.PORT``.
        capabilities: What the bank can do; the settings of a provider may
            take from it, and never add to it.
        adapter: The class of what is made.
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


def settings_of(name: str, kind: type[Settings], given: Mapping[str, object]) -> Settings:
    """
    Read a provider's settings; unknown ones are refused.

    Raises:
        AdapterRefused: With the path of what is wrong, never its value.
    """
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as problem:
        reason, _, place = str(problem).partition(" - at `$")
        reason = _ECHOED.sub("Invalid enum value", reason)
        message = f"providers.{name}.settings{place.rstrip('`')}: {reason}"
        raise AdapterRefused(message) from problem


def address_of(path: str, text: str, environment: Environment, hosts: Hosts) -> str:
    """
    Read an address of a provider's settings, such as ``base_url``, without the last slash.

    Args:
        path: Of the setting, for the operator: ``providers.NAME.settings.base_url``.
        text: The address as configured.
        environment: The gateway's; a host of the other one is refused.
        hosts: All hosts of the bank.

    Raises:
        AdapterRefused: With path and reason, never the address.
    """
    try:
        return bank_address(text, environment, hosts)
    except AddressRefused as problem:
        message = f"{path}: {problem}"
        raise AdapterRefused(message) from problem
