"""Providers: whether each can be reached, as far as our own calls tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from gateway.domain.bank.capabilities import Capabilities, described
from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Row, route
from policies.validation.inputs import NOTHING


class ProviderDocument(TypedDict):
    """
    A configured provider, as this process knows it.

    ``capabilities`` are those that its adapter declares, the row of the matrix that
    ``pixgate providers`` prints; ``problem`` tells of an adapter that broke the port,
    and is empty for one that did not. ``breakers`` say by class of operation whether
    calls pass; the last call says how it ended, ``ok`` or why not.
    """

    name: str
    adapter: str
    problem: str
    read_only: bool
    operations: list[str]
    capabilities: dict[str, Any]
    breakers: Mapping[str, str]
    last_call_at: Instant
    last_operation: str
    last_outcome: str
    last_ok_at: Instant


class ProviderList(TypedDict):
    """Every configured provider."""

    data: list[ProviderDocument]
    meta: Total


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """
    What is known of a provider.

    Attributes:
        adapter: The name of its adapter.
        capabilities: As the adapter declares them for this provider.
        problem: What the adapter did that no adapter may; empty if nothing since the start.
        breakers: By class of operation; one that never opened is not named.
    """

    name: str
    read_only: bool
    adapter: str
    capabilities: Capabilities
    problem: str = ""
    breakers: Mapping[str, str] = field(default_factory=dict)
    last_call_at: datetime | None = None
    last_operation: str = ""
    last_outcome: str = ""
    last_ok_at: datetime | None = None


def provider_rows(known: Callable[[], Sequence[Health]]) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row; providers belong to no company."""

    async def listed(_who: BackOfficeCaller, _taken: None) -> Sequence[Health]:
        return known()

    return (
        route(
            "GET",
            "/providers",
            name="backoffice.providers",
            summary="List the configured providers, and whether their calls pass.",
            needs=reading(Area.PROVIDER),
            limits=NO_BODY,
            takes=NOTHING,
            runs=listed,
            shows=_providers,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _providers(found: Sequence[Health], _who: BackOfficeCaller) -> ProviderList:
    data: list[ProviderDocument] = [
        {
            "name": each.name,
            "adapter": each.adapter,
            "problem": each.problem,
            "read_only": each.read_only,
            "operations": sorted(each.capabilities.operations),
            "capabilities": described(each.capabilities),
            "breakers": dict(each.breakers),
            "last_call_at": instant(each.last_call_at),
            "last_operation": each.last_operation,
            "last_outcome": each.last_outcome,
            "last_ok_at": instant(each.last_ok_at),
        }
        for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}
