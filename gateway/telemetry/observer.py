"""The observer: metric and log line of each record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Final

from gateway.core.clocks import Now
from gateway.core.trace import current_trace_id
from gateway.telemetry.logs import events
from gateway.telemetry.logs.events import Fields
from gateway.telemetry.logs.lines import LineBuffer, encode
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.cells import Counter, Histogram
from gateway.telemetry.metrics.cells import Gauge as Shown
from gateway.telemetry.metrics.families import OTHER, Family, Key
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.metrics.worst_credentials import WorstCredentials
from gateway.telemetry.ports import Event, Gauge
from gateway.telemetry.records import AccessRecord, ProviderCall, Unsettled, current_record

_log = logging.getLogger(__name__)

_SCHEMES: Final = {
    **dict.fromkeys(("banking", "events", "sandbox"), "basic"),
    **dict.fromkeys(("identity", "backoffice"), "bearer"),
    "panel": "session",
}
_STATES: Final = {"closed": 0, "half_open": 1, "open": 2}
_CLASSES: Final = {status: f"{status // 100}xx" for status in range(100, 600)}
_TEXTS: Final = {status: str(status) for status in range(100, 600)}
_DENIED: Final = frozenset(series.DENIED.values or ())
# The label values are ours and few; the bound holds if one should ever come from outside.
_MOST_TALLIES: Final = 1024
_MOST_KINDS: Final = 4096
_NOT_CALLED: Final = frozenset(series.OUTCOMES_NOT_SENT)
_RATE_LIMITED: Final = "rate_limited"
_READING: Final = ("get_", "list_")
_LONGEST_EXAMPLE: Final = 64
"""Characters of a trace id beside a duration: OpenMetrics allows 128, names included."""
_SLOW_S: Final = 0.25
"""Requests that took so long have an exemplar, as errors have: nobody looks for the others."""
_TOO_MANY: Final = 429
_PROVEN: Final = ("taken", "repeated")
_LOCKED: Final = "TOO_MANY_ATTEMPTS"
_FORGED: Final = "CSRF_FAILED"
_STAGES: Final = {
    f"{surface}.{route}": stage
    for surface in ("identity", "panel")
    for route, stage in {
        "password_forgot": "forgot",
        "password_reset": "reset",
        "invitation_accept": "invitation",
    }.items()
}
_RECOVERED: Final = {2: "ok", 5: "failed"}
_INVALID: Final = ("VALIDATION_FAILED", "SVC.VAL.", "SVC.PIX.012", "SVC.PIX.013", "SVC.PIX.014")


_COUNTED: Final[Mapping[Event, Family[Counter]]] = {
    Event.QUOTA: series.QUOTA_DECISIONS,
    Event.SHED: series.SHED_REQUESTS,
    Event.CREDENTIAL_CACHE: series.CREDENTIAL_CACHE,
    Event.FORGOTTEN: series.RECORDS_FORGOTTEN,
    Event.TRACE_ID_REPLACED: series.TRACE_ID_REPLACED,
    Event.CAS_LOSS: series.PAYOUT_CAS_LOSSES,
    Event.UNKNOWN_STATUS: series.PROVIDER_UNKNOWN_STATUS,
    Event.ROW_UNREADABLE: series.PROVIDER_ROWS_UNREADABLE,
    Event.ADAPTER_FAULT: series.ADAPTER_FAULTS,
    Event.UNKNOWN_FIELD: series.UNKNOWN_FIELDS,
    Event.PAYOUT_STOPPED: series.PAYOUTS_STOPPED,
    Event.PAYOUT_HOLD: series.PAYOUT_HOLDS,
    Event.PAYOUT_RETURNED: series.PAYOUTS_RETURNED,
    Event.PAYOUT_SIMILAR: series.PAYOUTS_SIMILAR,
    Event.PAYOUT_UNREADABLE: series.PAYOUTS_UNREADABLE,
    Event.LOOK_UP_FAILED: series.PROVIDER_LOOK_UPS_FAILED,
    Event.PAYMENT_WALK: series.PAYMENT_WALKS,
    Event.DAY_READING: series.DAY_READINGS,
    Event.DELIVERY: series.EVENTS_DELIVERIES,
    Event.NOTIFICATION: series.NOTIFICATIONS,
    Event.PROVIDER_LIMITED: series.PROVIDER_LIMITED,
    Event.STATEMENT_PAGE: series.STATEMENT_PAGES,
    Event.STATEMENT_TOO_LARGE: series.STATEMENTS_TOO_LARGE,
    Event.CACHE_FAILURE: series.CACHE_FAILURES,
    Event.SHARED_LIMITS: series.SHARED_LIMITS,
    Event.NOT_PIX: series.PROVIDER_NOT_PIX,
    Event.LOGIN: series.LOGINS,
    Event.MFA: series.FACTORS,
    Event.SINGLE_SIGN_ON: series.SINGLE_SIGN_ON,
    Event.SESSION_EVENT: series.SESSION_EVENTS,
    Event.TOKEN_REFRESH: series.TOKEN_REFRESHES,
    Event.REQUEST_LOG: series.KEPT_REQUESTS,
}
"""Each label is split at its points, into as many words as the metric has labels."""

_SHOWN: Final[Mapping[Gauge, Family[Shown]]] = {
    Gauge.CACHE_BYTES: series.CACHE_BYTES,
    Gauge.CREDENTIAL_STORE_UP: series.CREDENTIAL_STORE_UP,
    Gauge.WORKER_ABSENT: series.WORKER_ABSENT,
}


Keep = Callable[[datetime, AccessRecord, Fields], None]
"""Keep a request that was answered: when, what is known of it, and its log line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """
    Values common to all requests with the same route, status and outcome, or to all bank calls.

    Attributes:
        counters: Each record adds one to them.
        timings: Histograms, in the observer's order.
        line: Fields of each record's log line.
        quiet: It has no line of its own while a request is served.
    """

    counters: tuple[Counter, ...]
    timings: tuple[Histogram, ...]
    line: Fields
    quiet: bool = False


def _kept(kinds: dict[Hashable, _Kind], key: Hashable, kind: _Kind) -> _Kind:
    """Cache a kind for the next record; invented methods must not fill the memory."""
    if len(kinds) >= _MOST_KINDS:
        kinds.clear()
    kinds[key] = kind
    return kind


class TelemetryObserver:
    """
    Updates the metrics and writes the log line; an ``Observer``.

    Attributes:
        kept: Gets every request's line; None for no receiver.
    """

    def __init__(
        self, values: MetricRegistry, lines: LineBuffer, now: Now, always: Mapping[str, str]
    ) -> None:
        """Add the fields of ``always`` (worker, config digest) to every line."""
        self.kept: Keep | None = None
        self._lines = lines
        self._now = now
        self._always = dict(always)
        self._metrics = values
        self._providers = values.vocabulary.provider
        self._answers: dict[Hashable, _Kind] = {}
        self._calls: dict[Hashable, _Kind] = {}
        self._worst = WorstCredentials()
        values.read(series.WORST_CREDENTIALS, lambda: self._worst.figures(now()))
        self._tallies: dict[tuple[Event, str], Counter] = {}
        for provider, calls in product(self._providers, series.OPERATION_CLASS.values or ()):
            values.child(series.BREAKER_STATE, provider, calls).set(_STATES["closed"])

    def change_digest(self, digest: str) -> None:
        """Name another configuration in every line from now on."""
        self._always["config_digest"] = digest
        self._answers.clear()
        self._calls.clear()

    def request(self, record: AccessRecord) -> None:
        """Count and log a request that was answered."""
        key = _answered(record)
        kind = self._answers.get(key) or _kept(self._answers, key, self._answer_kind(record))
        for counter in kind.counters:
            counter.value += 1
        duration, overhead = kind.timings
        took_s, bank_s = record.duration_s, record.provider_s
        duration.observe(took_s, _example(record))
        overhead.observe(took_s - bank_s if took_s > bank_s else 0.0)
        at = self._now()
        line = events.access(record, at, kind.line)
        self._lines.append(encode(line))
        if record.code and record.client_id:
            self._worst.add(record, at)
        if self.kept is not None:
            self.kept(at, record, line)

    def provider_call(self, call: ProviderCall) -> None:
        """
        Count and log a call of a bank; one refused here has no duration.

        A successful read of a request has no line of its own: the request's line covers it.
        """
        key = (call.provider, call.operation, call.outcome, call.http_status, call.bytes_left)
        kind = self._calls.get(key) or _kept(self._calls, key, self._call_kind(call))
        kind.counters[0].value += 1
        if kind.timings:
            kind.timings[0].observe(call.duration_s)
        if kind.quiet and current_record() is not None:
            return
        self._lines.append(encode(events.provider_call(call, self._now(), kind.line)))

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Show, count and log a breaker's new state."""
        if state in _STATES:
            gauge = self._metrics.child(series.BREAKER_STATE, provider, operation_class)
            gauge.set(_STATES[state])
        self._add(series.BREAKER_TRANSITIONS, provider, operation_class, state)
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
        self._add(series.PROVIDER_RETRIES, provider, operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Show how many calls a provider has in flight."""
        self._metrics.child(series.PROVIDER_IN_FLIGHT, provider).set(calls)
        self._metrics.child(series.PROVIDER_IN_FLIGHT_LIMIT, provider).set(limit)

    def certificate(self, provider: str, ends: datetime) -> None:
        """Show when our certificate at a provider ends."""
        self._metrics.child(series.CERTIFICATE_ENDS, provider).set(ends.timestamp())

    def count(self, event: Event, label: str) -> None:
        """Count an event that has no record of its own."""
        (self._tallies.get((event, label)) or self._tally(event, label)).value += 1

    def _tally(self, event: Event, label: str) -> Counter:
        """Find the counter of an event and keep it; labels are our own words, and few."""
        family = _COUNTED[event]
        words, most = label.rsplit(".", len(family.labels) - 1), len(family.labels)
        counter = self._metrics.child(family, *[""] * (most - len(words)), *words)
        if len(self._tallies) < _MOST_TALLIES:
            self._tallies[event, label] = counter
        return counter

    def show(self, gauge: Gauge, value: float) -> None:
        """Show a gauge's value."""
        self._metrics.child(_SHOWN[gauge]).set(value)

    def unsettled(self, standing: Sequence[Unsettled], now: datetime) -> None:
        """Show the unsettled payouts of each provider; zero where there are none."""
        by_provider = {each.provider: each for each in standing}
        for provider in self._providers | by_provider.keys():
            stands = by_provider.get(provider)
            oldest = stands.oldest_at if stands else None
            age_s = (now - oldest).total_seconds() if oldest else 0.0
            gauge = self._metrics.child
            gauge(series.PAYOUT_UNRESOLVED, provider).set(stands.unresolved if stands else 0)
            gauge(series.PAYOUT_OLDEST_UNRESOLVED, provider).set(age_s)
            gauge(series.PAYOUT_REVIEW, provider).set(stands.review if stands else 0)

    def authenticated(self, scheme: str, duration_s: float) -> None:
        """Time the reading of a credential."""
        self._metrics.child(series.AUTH_DURATION, scheme).observe(duration_s)

    def payout_ended(self, provider: str, state: str, took_s: float) -> None:
        """Count a payout that ended; time it when it was paid."""
        self._add(series.PAYOUTS_ENDED, provider, state)
        if state == "paid":
            self._metrics.child(series.PAYOUT_SETTLEMENT, provider).observe(took_s)

    def money(self, provider: str, state: str, centavos: int) -> None:
        """Add the amount of a payout that was accepted, or that reached a final state."""
        self._metrics.child(series.PAYOUT_CENTAVOS, provider, state).value += centavos

    def callback(self, provider: str, result: str) -> None:
        """Count a callback, and show when the bank last sent one that it can prove."""
        self._add(series.CALLBACKS, provider, result)
        if result in _PROVEN:
            at = self._now().timestamp()
            self._metrics.child(series.CALLBACK_LAST, provider).set(at)

    def stored(self, work: str, took_s: float) -> None:
        """Time a unit of work in the database."""
        self._metrics.child(series.STORE_DURATION, work).observe(took_s)

    def _add(self, family: Family[Counter], *key: str) -> None:
        self._metrics.child(family, *key).value += 1

    def _answer_kind(self, record: AccessRecord) -> _Kind:
        """Prepare counters and line for the first request of a kind."""
        surface, route, method = record.surface, record.route, record.method
        status_class = _CLASSES.get(record.status, OTHER)
        child = self._metrics.child
        return _Kind(
            counters=tuple(child(family, *key) for family, key in _headings(record)),
            timings=(
                child(series.REQUEST_DURATION, surface, route, method, status_class),
                child(series.OVERHEAD, route),
            ),
            line={**events.access_kind(record), **self._always},
        )

    def _call_kind(self, call: ProviderCall) -> _Kind:
        """Prepare counters and line for the first bank call of a kind."""
        child, where = self._metrics.child, (call.provider, call.operation)
        return _Kind(
            counters=(child(series.PROVIDER_REQUESTS, *where, call.outcome),),
            timings=(child(series.PROVIDER_DURATION, *where),) if _was_made(call) else (),
            line={**events.provider_call_kind(call), **self._always},
            quiet=call.outcome == "ok" and call.operation.startswith(_READING),
        )


def _example(record: AccessRecord) -> str:
    """Return the trace id for a duration's exemplar; empty without one."""
    if record.duration_s < _SLOW_S and not record.code:
        return ""
    return record.trace_id if len(record.trace_id) <= _LONGEST_EXAMPLE else ""


def _was_made(call: ProviderCall) -> bool:
    """Return whether a call was made; a call that a limit stopped here was not."""
    stopped_here = call.outcome == _RATE_LIMITED and not call.http_status
    return not (stopped_here or call.outcome in _NOT_CALLED)


def _answered(record: AccessRecord) -> tuple[str | int, ...]:
    return (
        *(record.surface, record.route, record.path_template, record.method, record.status),
        *(record.auth, record.code, record.reason, record.field, record.resource),
        *(record.payout, record.payout_method),
    )


def _headings(record: AccessRecord) -> Iterator[tuple[Family[Counter], Key]]:
    surface, route = record.surface, record.route
    status = _TEXTS.get(record.status, OTHER)
    yield series.REQUESTS, (surface, route, record.method, status)
    if record.auth:
        yield series.AUTH_ATTEMPTS, (_SCHEMES.get(surface, OTHER), record.auth)
    if record.payout:
        yield series.PAYOUTS, (record.payout_method, record.payout)
    known = events.idempotency(record.payout)
    if known:
        yield series.IDEMPOTENT_REQUESTS, (known,)
    if route in _STAGES:
        yield series.RECOVERIES, (_STAGES[route], _recovered(record.status))
    if record.code:
        yield series.ERRORS, (surface, route, record.code, status)
        yield from _refusal_headings(record)


def _refusal_headings(record: AccessRecord) -> Iterator[tuple[Family[Counter], Key]]:
    if record.code.startswith(_INVALID):
        yield series.VALIDATION_FAILURES, (record.route, record.code)
    elif record.code == _LOCKED:
        yield series.LOCKOUTS, (record.reason,)
    elif record.code == _FORGED:
        yield series.CSRF_REJECTED, (record.reason,)
    elif record.reason in _DENIED:
        yield series.DENIALS, (record.reason, record.resource)


def _recovered(status: int) -> str:
    return "limited" if status == _TOO_MANY else _RECOVERED.get(status // 100, "refused")
