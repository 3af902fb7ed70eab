"""Health of each provider, from this process's own calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.banks import model
from gateway.banks.connections import ConfiguredProvider
from gateway.banks.model import WELL
from gateway.banks.port.capabilities import described
from gateway.config.upstream import Breaker
from gateway.core.clocks import Now
from gateway.telemetry.ports import Event
from gateway.telemetry.records import Observer, ProviderCall

_OK = "ok"
_SECOND = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(slots=True)
class _Seen:
    """The last observations of one provider."""

    breakers: dict[str, str] = field(default_factory=dict)
    call: ProviderCall | None = None
    at: datetime | None = None
    ok_at: datetime | None = None
    problem: str = ""
    failed: ProviderCall | None = None
    failed_at: datetime | None = None
    in_flight: tuple[int, int] = (0, 0)
    certificate_ends_at: datetime | None = None
    openings: dict[str, int] = field(default_factory=dict)
    open_until: dict[str, datetime] = field(default_factory=dict)


class ProviderHealth:
    """Forwards observations of adapters and keeps the latest; an ``Observer``."""

    def __init__(
        self, observer: Observer, now: Now, breakers: Mapping[str, Breaker] | None = None
    ) -> None:
        """Forward everything to ``observer``; ``breakers`` hold each provider's pause."""
        self._observer = observer
        self._now = now
        self._breakers = breakers or {}
        self._seen: defaultdict[str, _Seen] = defaultdict(_Seen)

    def known(self, connections: Mapping[str, ConfiguredProvider]) -> Sequence[model.Provider]:
        """Return the health of every configured provider, by name."""
        return [self._health(name, connections[name]) for name in sorted(connections)]

    def provider_call(self, call: ProviderCall) -> None:
        """Store a call of a bank, and forward it."""
        seen = self._seen[call.provider]
        seen.call, seen.at = call, self._now()
        if call.outcome == _OK:
            seen.ok_at = seen.at
        elif call.outcome not in WELL:
            seen.failed, seen.failed_at = call, seen.at
        self._observer.provider_call(call)

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Store a breaker's new state, and forward it."""
        seen = self._seen[provider]
        seen.breakers[operation_class] = state
        seen.open_until.pop(operation_class, None)
        if state == "open":
            self._opened(provider, operation_class)
        elif state == "closed":
            seen.openings.pop(operation_class, None)
        self._observer.breaker(provider, operation_class, state)

    def provider_retry(self, provider: str, operation: str) -> None:
        """Forward a retry."""
        self._observer.provider_retry(provider, operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Store the number of calls in flight, and forward it."""
        self._seen[provider].in_flight = calls, limit
        self._observer.in_flight(provider, calls, limit)

    def certificate(self, provider: str, ends: datetime) -> None:
        """Store the certificate's expiry, and forward it."""
        self._seen[provider].certificate_ends_at = ends
        self._observer.certificate(provider, ends)

    def count(self, event: Event, label: str) -> None:
        """Store an adapter's fault, named ``provider.operation``, and forward it."""
        if event is Event.ADAPTER_FAULT:
            provider, _, operation = label.rpartition(".")
            at = self._now().strftime(_SECOND)
            self._seen[provider].problem = f"{operation} broke the port, last at {at}"
        self._observer.count(event, label)

    def _opened(self, provider: str, operation_class: str) -> None:
        """Store until about when a breaker stays open: longer each time in a row."""
        seen, limits = self._seen[provider], self._breakers.get(provider, Breaker())
        seen.openings[operation_class] = seen.openings.get(operation_class, 0) + 1
        open_s = min(limits.longest_open_s, limits.open_s * seen.openings[operation_class])
        seen.open_until[operation_class] = self._now() + timedelta(seconds=open_s)

    def _state(self, seen: _Seen, kind: str) -> str:
        """Return a breaker's state; after its pause the next call is a trial, whenever it comes."""
        until = seen.open_until.get(kind)
        return "half_open" if until is not None and until <= self._now() else seen.breakers[kind]

    def _health(self, name: str, connection: ConfiguredProvider) -> model.Provider:
        seen, adapter = self._seen[name], connection.adapter
        return model.Provider(
            name=name,
            read_only=connection.read_only or not adapter.capabilities.payouts,
            adapter=connection.adapter_name,
            operations=sorted(adapter.capabilities.operations),
            capabilities=described(adapter.capabilities),
            problem=seen.problem,
            breakers={kind: self._state(seen, kind) for kind in seen.breakers},
            last_call_at=seen.at,
            last_operation=seen.call.operation if seen.call else "",
            last_outcome=seen.call.outcome if seen.call else "",
            last_ok_at=seen.ok_at,
            last_failed_at=seen.failed_at,
            last_failed_operation=seen.failed.operation if seen.failed else "",
            last_failure=seen.failed.outcome if seen.failed else "",
            in_flight=seen.in_flight[0],
            in_flight_limit=seen.in_flight[1] or connection.in_flight_limit,
            open_until={kind: f"{at:{_SECOND}}" for kind, at in seen.open_until.items()},
            certificate_ends_at=seen.certificate_ends_at,
        )
