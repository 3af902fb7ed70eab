"""Simulated banks by name, one line each; a module is loaded when its bank is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from provider_adapters.testing.bank.simulator import Simulator

MODULES: Final[Mapping[str, str]] = {
    "sandbox": "provider_adapters.testing.sandbox.dialect",
    "starkbank": "provider_adapters.testing.starkbank.dialect",
    "efi": "provider_adapters.testing.apipix.dialect",
    "asaas": "provider_adapters.testing.asaas.dialect",
    "woovi": "provider_adapters.testing.woovi.dialect",
    "inter": "provider_adapters.testing.apipix.dialect",
    "sicoob": "provider_adapters.testing.apipix.dialect",
    "bb": "provider_adapters.testing.apipix.dialect",
    "sicredi": "provider_adapters.testing.apipix.dialect",
}
"""Each has ``SIMULATORS``, its banks by name. The order is that of the ports: append."""


def names() -> tuple[str, ...]:
    """Return every bank that can be simulated."""
    return tuple(MODULES)


def find(name: str) -> Simulator:
    """Return a bank that can be simulated; raises ``KeyError``."""
    simulators: Mapping[str, Simulator] = importlib.import_module(MODULES[name]).SIMULATORS
    return simulators[name]


_TOKEN_HOSTS: Final = 100
"""How far behind the first port those of second hosts begin: no bank more moves them."""


def ports(name: str, first: int) -> tuple[int, int]:
    """Return a bank's port and that of its control interface; 0 lets every bank take free ones."""
    place = names().index(name)
    return (first + 2 * place, first + 2 * place + 1) if first else (0, 0)


def token_port(name: str, first: int) -> int:
    """Return the port of a bank's second host, if it has one; 0 takes a free one."""
    return first + _TOKEN_HOSTS + names().index(name) if first else 0
