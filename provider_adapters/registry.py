"""Adapters by name: ours, one line each, and those that other packages bring along."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from gateway.domain.bank.capabilities import CONTRACT_CALLS, Capabilities
from provider_adapters.checks import check_factory, refused_if_raised
from provider_adapters.kit.factory import AdapterFactory, AdapterRefused
from provider_adapters.sandbox.factory import SandboxFactory

GROUP: Final = "pixgate.provider_adapters"
"""The entry-point group in which other packages name an ``AdapterFactory``."""

ADAPTERS: Final[Mapping[str, AdapterFactory]] = {
    "sandbox": SandboxFactory(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRow:
    """
    A row of the capability matrix.

    Attributes:
        capabilities: As the adapter's factory declares them.
        problem: Why the adapter cannot be used; then nothing else is known.
    """

    adapter: str
    capabilities: Capabilities
    problem: str = ""

    @property
    def calls(self) -> Mapping[str, bool]:
        """Each of the nine calls of the contract, and whether it can be used."""
        return {call.value: call in self.capabilities.calls for call in CONTRACT_CALLS}


def names() -> tuple[str, ...]:
    """Return every adapter's name, ours first; nothing is loaded."""
    others = {point.name for point in entry_points(group=GROUP)} - set(ADAPTERS)
    return (*ADAPTERS, *sorted(others))


def find(adapter: str) -> AdapterFactory:
    """
    Return the factory of an adapter; another package is loaded only when asked for.

    Raises:
        AdapterRefused: nobody has that name, or more than one, or it does not load.
    """
    points = list(entry_points(group=GROUP, name=adapter))
    if len(points) + (adapter in ADAPTERS) > 1:
        owners = ", ".join(point.value for point in points)
        message = f"adapter {adapter!r}: the name is taken more than once ({owners})"
        raise AdapterRefused(message)
    if adapter in ADAPTERS:
        return ADAPTERS[adapter]
    if not points:
        near = difflib.get_close_matches(adapter, names(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        message = f"adapter {adapter!r} is not installed{hint}"
        raise AdapterRefused(message)
    return _loaded(points[0])


def describe() -> tuple[AdapterRow, ...]:
    """Return the capability matrix; an adapter that is broken has a row that says so."""
    return tuple(_row(name) for name in names())


def _loaded(point: EntryPoint) -> AdapterFactory:
    """Load another package's factory, and check it."""
    where = f"adapter {point.name!r} ({point.value})"
    with refused_if_raised(f"{where} does not load: it"):
        factory = point.load()
    return check_factory(factory, where)


def _row(name: str) -> AdapterRow:
    """Describe one adapter."""
    try:
        return AdapterRow(adapter=name, capabilities=find(name).capabilities)
    except AdapterRefused as refused:
        return AdapterRow(adapter=name, capabilities=Capabilities(), problem=str(refused))
