"""An observer that remembers, a clock that stands still, and limits short enough for a test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from gateway.net.common.runtime import Runtime
from gateway.telemetry.records import AccessRecord, ProviderCall
from provider_adapters.kit.limits import ClientLimits

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SHORT = ClientLimits(connect_s=0.4, read_s=1.0, payout_s=1.0, retry_after_s=0.001)


@dataclass
class Witness:
    calls: list[ProviderCall] = field(default_factory=list)
    states: list[tuple[str, str, str]] = field(default_factory=list)
    retries: list[tuple[str, str]] = field(default_factory=list)
    crowds: list[int] = field(default_factory=list)
    certificates: list[tuple[str, datetime]] = field(default_factory=list)
    counts: list[tuple[str, str]] = field(default_factory=list)

    def request(self, record: AccessRecord) -> None:
        raise AssertionError(record)

    def provider_call(self, call: ProviderCall) -> None:
        self.calls.append(call)

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        self.states.append((provider, operation_class, state))

    def provider_retry(self, provider: str, operation: str) -> None:
        self.retries.append((provider, operation))

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        self.crowds.append(calls)

    def certificate(self, provider: str, ends: datetime) -> None:
        self.certificates.append((provider, ends))

    def count(self, event: str, label: str) -> None:
        self.counts.append((event, label))


@dataclass
class Clock:
    """Seconds that pass when a test lets them."""

    at: float = 1000.0

    def __call__(self) -> float:
        return self.at

    def passes(self, seconds: float) -> None:
        self.at += seconds


def still(clock: Clock, chance: float = 0.5) -> Runtime:
    async def pause(seconds: float) -> None:
        clock.passes(seconds)

    return Runtime(clock=clock, now=lambda: NOON, random=lambda: chance, sleep=pause)
