"""The observer: metric and log line of one record, in one place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from gateway.domain.clocks import Now
from gateway.domain.stores import Unsettled
from gateway.telemetry import events, metrics
from gateway.telemetry.cells import Key
from gateway.telemetry.families import OTHER, Family
from gateway.telemetry.lines import LineBuffer, encode
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.records import AccessRecord, ProviderCall
from gateway.telemetry.trace import current_trace_id

_log = logging.getLogger(__name__)

_SCHEMES: Final = {"banking": "basic"}
_STATES: Final = {"closed": 0, "half_open": 1, "open": 2}
_CLASSES: Final = {status: f"{status // 100}xx" for status in range(100, 600)}
_TEXTS: Final = {status: str(status) for status in range(100, 600)}
_DENIED: Final = frozenset(metrics.DENIED.values or ())
_NOT_CALLED: Final = frozenset(metrics.OUTCOMES_NOT_SENT)
_INVALID: Final = ("SVC.VAL.", "SVC.PIX.012", "SVC.PIX.013", "SVC.PIX.014")


def _split(place: str) -> Key:
    """Split ``provider.operation``."""
    provider, _, operation = place.rpartition(".")
    return provider, operation


_COUNTED: Final[Mapping[str, tuple[Family, Callable[[str], Key]]]] = {
    "quota_allowed": (metrics.QUOTA_DECISIONS, lambda policy: (policy, "allowed")),
    "quota_limited": (metrics.QUOTA_DECISIONS, lambda policy: (policy, "limited")),
    "shed": (metrics.SHED_REQUESTS, lambda reason: (reason,)),
    "credential_cache": (metrics.CREDENTIAL_CACHE, lambda result: (result,)),
    "trace_id_replaced": (metrics.TRACE_ID_REPLACED, lambda reason: (reason,)),
    "cas_loss": (metrics.PAYOUT_CAS_LOSSES, lambda provider: (provider,)),
    "unknown_status": (metrics.PROVIDER_UNKNOWN_STATUS, _split),
    "unknown_field": (metrics.UNKNOWN_FIELDS, lambda route: (route,)),
    "payout_stopped": (metrics.PAYOUTS_STOPPED, lambda scope: (scope,)),
    "payout_similar": (metrics.PAYOUTS_SIMILAR, lambda provider: (provider,)),
    "not_pix": (metrics.PROVIDER_NOT_PIX, lambda provider: (provider,)),
}


_SHOWN: Final[Mapping[str, tuple[Family, Key]]] = {
    "credential_store_up": (metrics.CREDENTIAL_STORE_UP, ()),
    "requests_in_flight": (metrics.REQUESTS_IN_FLIGHT, ("banking",)),
}


class TelemetryObserver:
    """Updates the metrics and writes the log line; an ``Observer``."""

    def __init__(
        self, values: Metrics, lines: LineBuffer, now: Now, always: Mapping[str, str]
    ) -> None:
        """Add the fields of ``always`` (worker, config digest) to every line."""
        self._lines = lines
        self._now = now
        self._always = dict(always)
        self._metrics = values
        self._providers = values.vocabulary.provider
        self._requests = values.values(metrics.REQUESTS)
        self._durations = values.timings(metrics.REQUEST_DURATION)
        self._overheads = values.timings(metrics.OVERHEAD)
        self._calls = values.values(metrics.PROVIDER_REQUESTS)
        self._call_durations = values.timings(metrics.PROVIDER_DURATION)
        self._authentications = values.timings(metrics.AUTH_DURATION)
        self._counted = {
            event: (values.values(family), key) for event, (family, key) in _COUNTED.items()
        }

    def request(self, record: AccessRecord) -> None:
        """Count and log a request that was answered."""
        surface, route, method = record.surface, record.route, record.method
        status = _TEXTS.get(record.status, OTHER)
        self._requests.add((surface, route, method, status))
        self._durations.observe(
            (surface, route, method, _CLASSES.get(record.status, OTHER)), record.duration_s
        )
        self._overheads.observe((route,), max(0.0, record.duration_s - record.provider_s))
        if record.auth:
            self._add(metrics.AUTH_ATTEMPTS, _SCHEMES.get(surface, OTHER), record.auth)
        if record.payout:
            self._count_payout(record)
        if record.code:
            self._count_refusal(record, status)
        self._lines.append(encode(events.access(record, self._now(), self._always)))

    def provider_call(self, call: ProviderCall) -> None:
        """Count and log a call of a bank; one refused here has no duration."""
        self._calls.add((call.provider, call.operation, call.outcome))
        if call.outcome not in _NOT_CALLED:
            self._call_durations.observe((call.provider, call.operation), call.duration_s)
        self._lines.append(encode(events.provider_call(call, self._now(), self._always)))

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Show, count and log a breaker's new state."""
        if state in _STATES:
            gauge = self._metrics.values(metrics.BREAKER_STATE)
            gauge.put((provider, operation_class), _STATES[state])
        self._add(metrics.BREAKER_TRANSITIONS, provider, operation_class, state)
        self._lines.append(
            encode(
                {
                    "ts": self._now(),
                    "level": "info" if state == "closed" else "warning",
                    "event": "breaker",
                    "trace_id": current_trace_id(),
                    "provider": provider,
                    "operation_class": operation_class,
                    "breaker_state": state,
                    **self._always,
                }
            )
        )

    def provider_retry(self, provider: str, operation: str) -> None:
        """Count a read that was repeated."""
        self._add(metrics.PROVIDER_RETRIES, provider, operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Show how many calls a provider has in flight."""
        self._metrics.values(metrics.PROVIDER_IN_FLIGHT).put((provider,), calls)
        self._metrics.values(metrics.PROVIDER_IN_FLIGHT_LIMIT).put((provider,), limit)

    def count(self, event: str, label: str) -> None:
        """Count something without a record; a word nobody declared is logged, not raised."""
        known = self._counted.get(event)
        if known is None:
            _log.warning("nobody counts %s", event)
            return
        values, key = known
        values.add(key(label))

    def show(self, figure: str, value: float) -> None:
        """Show a figure; one nobody declared is logged, not raised."""
        known = _SHOWN.get(figure)
        if known is None:
            _log.warning("nobody shows %s", figure)
            return
        family, key = known
        self._metrics.values(family).put(key, value)

    def unsettled(self, standing: Sequence[Unsettled], now: datetime) -> None:
        """Show how payouts stand; a provider without any is shown at zero."""
        by_provider = {each.provider: each for each in standing}
        for provider in self._providers | by_provider.keys():
            self._show_unsettled(provider, by_provider.get(provider), now)

    def _show_unsettled(self, provider: str, stands: Unsettled | None, now: datetime) -> None:
        """Show one provider's."""
        oldest = stands.oldest_at if stands else None
        age_s = (now - oldest).total_seconds() if oldest else 0.0
        show = self._metrics.values
        show(metrics.PAYOUT_UNRESOLVED).put((provider,), stands.unresolved if stands else 0)
        show(metrics.PAYOUT_OLDEST_UNRESOLVED).put((provider,), age_s)
        show(metrics.PAYOUT_REVIEW).put((provider,), stands.review if stands else 0)

    def authenticated(self, scheme: str, duration_s: float) -> None:
        """Time an authentication."""
        self._authentications.observe((scheme,), duration_s)

    def _add(self, family: Family, *key: str) -> None:
        """Add one."""
        self._metrics.values(family).add(key)

    def _count_payout(self, record: AccessRecord) -> None:
        """Count what became of a payout request."""
        self._add(metrics.PAYOUTS, record.payout_method, record.payout)
        known = events.idempotency(record.payout)
        if known:
            self._add(metrics.IDEMPOTENT_REQUESTS, known)

    def _count_refusal(self, record: AccessRecord, status: str) -> None:
        """Count a refusal under every heading it belongs to."""
        self._add(metrics.ERRORS, record.surface, record.route, record.code, status)
        if record.code.startswith(_INVALID):
            self._add(metrics.VALIDATION_FAILURES, record.route, record.code)
        elif record.reason in _DENIED:
            self._add(metrics.DENIALS, record.reason, record.resource)
