"""Simulated banks by name, one line each; a module is loaded when its bank is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from provider_adapters.testing.bank.dialect import Simulator

MODULES: Final[Mapping[str, str]] = {
    "sandbox": "provider_adapters.testing.sandbox",
    "starkbank": "provider_adapters.testing.starkbank",
    "efi": "provider_adapters.testing.apipix.dialect",
    "asaas": "provider_adapters.testing.asaas",
    "woovi": "provider_adapters.testing.woovi",
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


def ports(name: str, first: int) -> tuple[int, int, int]:
    """
    Return a bank's ports: for customers, for control, and of its second host, if it has one.

    Those of second hosts begin 100 higher, so that one more bank does not move them. 0 takes free
    ones.
    """
    place = names().index(name)
    return (first + 2 * place, first + 2 * place + 1, first + 100 + place) if first else (0, 0, 0)
