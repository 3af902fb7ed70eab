"""What our own calls tell of each provider's health, for operators to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gateway.domain.kernel.clocks import Now
from gateway.http.backoffice.oversight.providers import Health
from gateway.runtime.providers.directory import Connection
from gateway.telemetry.ports import Event
from gateway.telemetry.records import Observer, ProviderCall

_OK = "ok"


@dataclass(slots=True)
class _Seen:
    """What was seen of one provider."""

    breakers: dict[str, str] = field(default_factory=dict)
    call: ProviderCall | None = None
    at: datetime | None = None
    ok_at: datetime | None = None


class ProviderHealth:
    """Stands between adapters and the observer, and remembers the latest; an ``Observer``."""

    def __init__(self, told: Observer, now: Now) -> None:
        """Pass everything on to ``told``."""
        self._told = told
        self._now = now
        self._seen: dict[str, _Seen] = {}

    def known(self, connections: Mapping[str, Connection]) -> Sequence[Health]:
        """Return what is known of every configured provider, by name."""
        return [self._health(name, connections[name]) for name in sorted(connections)]

    def provider_call(self, call: ProviderCall) -> None:
        """Remember a call of a bank, and pass it on."""
        seen = self._of(call.provider)
        seen.call, seen.at = call, self._now()
        if call.outcome == _OK:
            seen.ok_at = seen.at
        self._told.provider_call(call)

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Remember a breaker's new state, and pass it on."""
        self._of(provider).breakers[operation_class] = state
        self._told.breaker(provider, operation_class, state)

    def provider_retry(self, provider: str, operation: str) -> None:
        """Pass it on."""
        self._told.provider_retry(provider, operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Pass it on."""
        self._told.in_flight(provider, calls, limit)

    def certificate(self, provider: str, ends: datetime) -> None:
        """Pass it on."""
        self._told.certificate(provider, ends)

    def count(self, event: Event, label: str) -> None:
        """Pass it on."""
        self._told.count(event, label)

    def _of(self, provider: str) -> _Seen:
        seen = self._seen.get(provider)
        return seen if seen is not None else self._seen.setdefault(provider, _Seen())

    def _health(self, name: str, connection: Connection) -> Health:
        seen, adapter = self._of(name), connection.adapter
        return Health(
            name=name,
            read_only=connection.read_only or not adapter.capabilities.payouts,
            operations=adapter.capabilities.operations,
            breakers=dict(seen.breakers),
            last_call_at=seen.at,
            last_operation=seen.call.operation if seen.call else "",
            last_outcome=seen.call.outcome if seen.call else "",
            last_ok_at=seen.ok_at,
        )
