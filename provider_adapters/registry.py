"""Adapters by name: ours, one line each, and other packages' adapters."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from gateway.banks.port.capabilities import CONTRACT_CALLS, Capabilities
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.asaas.factory import AsaasFactory
from provider_adapters.checks import check_factory, refused_if_raised
from provider_adapters.kit.factory import AdapterFactory, AdapterRefused, profiles_of
from provider_adapters.sandbox.factory import SandboxFactory
from provider_adapters.starkbank.factory import StarkBankFactory
from provider_adapters.woovi.factory import WooviFactory

GROUP: Final = "pixgate.provider_adapters"
"""The entry-point group in which other packages name an ``AdapterFactory``."""

ADAPTERS: Final[Mapping[str, AdapterFactory]] = {
    "sandbox": SandboxFactory(),
    "starkbank": StarkBankFactory(),
    "woovi": WooviFactory(),
    "asaas": AsaasFactory(),
    "apipix": ApiPixFactory(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRow:
    """
    A row of the capability matrix: an adapter, or one of its profiles.

    Attributes:
        capabilities: As the adapter's factory declares them, for this profile if it has any.
        profile: One of the banks that the adapter is configured for; empty for an adapter of one.
        problem: Why the adapter cannot be used; then nothing else is known.
    """

    adapter: str
    capabilities: Capabilities
    profile: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        """The adapter, and the profile where it has several."""
        return f"{self.adapter} {self.profile}".rstrip()

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
    Return the factory of an adapter; other packages are loaded on use.

    Raises:
        AdapterRefused: no adapter or several have that name, or it does not load.
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


def describe(adapters: Iterable[str] | None = None) -> tuple[AdapterRow, ...]:
    """
    Return the capability matrix; a broken adapter has a row with its problem.

    Args:
        adapters: Of these, in their order; None for all that are installed.
    """
    wanted = names() if adapters is None else adapters
    return tuple(row for name in wanted for row in _rows(name))


def _loaded(point: EntryPoint) -> AdapterFactory:
    """Load another package's factory, and check it."""
    where = f"adapter {point.name!r} ({point.value})"
    with refused_if_raised(f"{where} does not load: it"):
        factory = point.load()
    return check_factory(factory, where)


def _rows(name: str) -> Iterator[AdapterRow]:
    """Describe one adapter: a row for each of its profiles, or its only one."""
    try:
        factory = find(name)
    except AdapterRefused as refused:
        yield AdapterRow(adapter=name, capabilities=Capabilities(), problem=str(refused))
        return
    profiles = profiles_of(factory)
    if not profiles:
        yield AdapterRow(adapter=name, capabilities=factory.capabilities)
    for profile, declared in profiles.items():
        yield AdapterRow(adapter=name, profile=profile, capabilities=declared)
