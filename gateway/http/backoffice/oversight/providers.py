"""Providers: whether each can be reached, as far as our own calls tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypedDict

from msgspec import Meta

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
    calls pass, ``open_until`` about until when those that are open keep them back; the last
    call says how it ended, ``ok`` or why not. ``certificate_ends_at`` is of our certificate at
    the bank where all accounts share one; those of accounts are told of in the overview.
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
    last_failed_at: Instant
    last_failed_operation: Annotated[str, Meta(examples=["get_balance"])]
    last_failure: Annotated[str, Meta(examples=["timeout"])]
    in_flight: int
    in_flight_limit: int
    open_until: Mapping[str, str]
    certificate_ends_at: Instant


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
    last_failed_at: datetime | None = None
    last_failed_operation: str = ""
    last_failure: str = ""
    in_flight: int = 0
    in_flight_limit: int = 0
    open_until: Mapping[str, datetime] = field(default_factory=dict)
    certificate_ends_at: datetime | None = None


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
            "last_failed_at": instant(each.last_failed_at),
            "last_failed_operation": each.last_failed_operation,
            "last_failure": each.last_failure,
            "in_flight": each.in_flight,
            "in_flight_limit": each.in_flight_limit,
            "open_until": {kind: instant(at) for kind, at in each.open_until.items()},
            "certificate_ends_at": instant(each.certificate_ends_at),
        }
        for each in found
    ]
    return {"data": data, "meta": {"total": len(data)}}
