"""Adapters by name: ours, one line each, and those that other packages bring along."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from gateway.domain.bank.providers import Capabilities, Repeat
from provider_adapters._shared.factory import AdapterFactory, AdapterRefused
from provider_adapters.sandbox.factory import SandboxFactory

GROUP: Final = "pixgate.provider_adapters"
"""The entry-point group in which other packages name an ``AdapterFactory``."""

ADAPTERS: Final[Mapping[str, AdapterFactory]] = {
    "sandbox": SandboxFactory(),
}

CALLS: Final = (
    "probe",
    "get_balance",
    "list_statement",
    "list_keys",
    "get_key",
    "get_charge",
    "get_charge_payment",
    "create_payout",
    "find_payout",
)
"""The calls every bank must answer, in the order of the port."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRow:
    """
    A row of the capability matrix.

    Attributes:
        calls: Each of the nine, and whether it can be used.
        operations: The optional ones offered beyond them.
        absent_after_s: Seconds; None when nothing proves a payout absent.
        problem: Why the adapter cannot be used; then nothing else is known.
    """

    adapter: str
    calls: Mapping[str, bool]
    operations: tuple[str, ...]
    payouts: bool
    repeat: Repeat
    lookup_by_key: bool
    absent_after_s: float | None
    problem: str = ""


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
    """Load another package's factory."""
    try:
        factory = point.load()
    except Exception as problem:  # whatever a foreign module raises while it is imported
        message = f"adapter {point.name!r} ({point.value}) does not load: {problem!r}"
        raise AdapterRefused(message) from problem
    if not (callable(factory) and isinstance(getattr(factory, "capabilities", None), Capabilities)):
        message = f"adapter {point.name!r} ({point.value}) is no adapter factory"
        raise AdapterRefused(message)
    made: AdapterFactory = factory
    return made


def _row(name: str) -> AdapterRow:
    """Describe one adapter."""
    try:
        capabilities, problem = find(name).capabilities, ""
    except AdapterRefused as refused:
        capabilities, problem = Capabilities(payouts=False), str(refused)
    absent = capabilities.absent_after
    return AdapterRow(
        adapter=name,
        calls={call: not problem and _usable(call, capabilities) for call in CALLS},
        operations=tuple(sorted(capabilities.operations)),
        payouts=capabilities.payouts,
        repeat=capabilities.repeat,
        lookup_by_key=capabilities.lookup_by_key,
        absent_after_s=None if absent is None else absent.total_seconds(),
        problem=problem,
    )


def _usable(call: str, capabilities: Capabilities) -> bool:
    """Say whether one of the nine calls can be used: all but those that move money always."""
    return capabilities.payouts or call not in {"create_payout", "find_payout"}
