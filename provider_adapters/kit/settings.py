"""A provider's part of ``config.yaml``: read strictly, with the limits that every bank has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from gateway.banks.client.addresses import AddressRefused, bank_address, loopback_address
from gateway.banks.client.tls import TlsFiles
from gateway.banks.port.capabilities import Hosts
from gateway.core.account import Environment
from gateway.core.limits import CallRate
from provider_adapters.kit.factory import AdapterRefused
from provider_adapters.kit.limits import ALL_OPERATIONS, AccountLimits, ClientLimits

__all__ = [
    "ALL_OPERATIONS",
    "AccountLimits",
    "BankSettings",
    "CallRate",
    "ClientLimits",
    "TlsFiles",
    "address_of",
    "loopback_of",
    "settings_of",
]

Settings = TypeVar("Settings", bound=msgspec.Struct)

# The one message of msgspec that repeats what was given, which may be a secret in a wrong place.
_ECHOED: Final = re.compile(r"Invalid enum value .*", re.DOTALL)


class BankSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Settings of every bank on the internet.

    Attributes:
        base_url: One of the bank's hosts in this environment, or this machine in the sandbox
            environment; empty for the bank's usual one.
        limits: Our client's; the bank's declared limits hold unless these set others.
    """

    base_url: str = ""
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()


def settings_of(name: str, kind: type[Settings], given: Mapping[str, object]) -> Settings:
    """
    Read a provider's settings; unknown ones are refused.

    Raises:
        AdapterRefused: With the path of the invalid setting, never its value.
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
        path: The setting's, for the operator: ``providers.NAME.settings.base_url``.
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


def loopback_of(path: str, text: str) -> str:
    """
    Read an address on this machine, such as a simulator's, without the last slash.

    Raises:
        AdapterRefused: With path and reason, never the address.
    """
    try:
        return loopback_address(text)
    except AddressRefused as problem:
        message = f"{path}: {problem}"
        raise AdapterRefused(message) from problem
