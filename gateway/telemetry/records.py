"""Records of requests and bank calls: log line and metrics are made from the same one."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec

from gateway.telemetry.ports import Event, Gauge


class AccessRecord(msgspec.Struct, kw_only=True):
    """
    One request, filled in while it is served.

    Attributes:
        w3c_trace_id: Under which the bank is asked, where it has other digits.
        route: The route's name, such as ``banking.balance``; never the path.
        code, reason: The error's public code and our fixed word; empty on success.
        field: The fault of the request, by a name of ours; mostly empty.
        auth: The result of authentication: ok, missing, malformed,
            wrong_scheme, invalid, revoked, expired, throttled, unavailable.
        duration_s: The whole request, but for ``waited_s``; ``provider_s`` is the part spent on
            banks.
        waited_s: For so long it waited for news, as its caller asked for.
        payout: The outcome of a payout request: accepted, rejected, duplicate,
            conflict, intent_failed, not_sent, credentials_refused, rate_limited,
            unknown.
        account_hash: The account's short form in the logs; empty unless the caller proved
            who asks.
    """

    trace_id: str
    w3c_trace_id: str = ""
    surface: str = "none"
    route: str = "none"
    path_template: str = ""
    method: str = ""
    status: int = 0
    code: str = ""
    reason: str = ""
    field: str = ""
    auth: str = ""
    duration_s: float = 0.0
    waited_s: float = 0.0
    provider: str = ""
    provider_s: float = 0.0
    provider_outcome: str = ""
    client_id: str = ""
    user_id: str = ""
    company_id: str = ""
    account_id: str = ""
    account_hash: str = ""
    resource: str = ""
    payout: str = ""
    payout_method: str = ""
    address: str = ""
    bytes_in: int = 0
    bytes_out: int = 0


class ProviderCall(msgspec.Struct, frozen=True, kw_only=True):
    """
    One call of a bank.

    Attributes:
        outcome: ok, not_found, rejected, timeout, connect_error, bad_response,
            unavailable, rate_limited, credentials_refused, breaker_open or
            bulkhead_full.
        http_status: 0 when there was no answer.
        bytes_left: Whether any byte of the request may have left us.
        provider_key: The provider key of the payout followed up; empty for other calls.
    """

    provider: str
    operation: str
    outcome: str
    duration_s: float
    http_status: int
    bytes_left: bool
    trace_id: str
    provider_key: str = ""


class Observer(Protocol):
    """Observes calls of banks, and counts."""

    def provider_call(self, call: ProviderCall) -> None:
        """Note a call of a bank, or one that was refused here."""

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Note that a circuit breaker went ``closed``, ``half_open`` or ``open``."""

    def provider_retry(self, provider: str, operation: str) -> None:
        """Note that a read was repeated."""

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Note how many calls a provider has in flight now."""

    def certificate(self, provider: str, ends: datetime) -> None:
        """Note when our certificate at a provider expires; called whenever one was read."""

    def count(self, event: Event, label: str) -> None:
        """Count an event that has no record of its own; ``Event`` names the labels."""


class RequestObserver(Observer, Protocol):
    """Observes requests, too."""

    def request(self, record: AccessRecord) -> None:
        """Note a request that was answered."""

    def authenticated(self, scheme: str, duration_s: float) -> None:
        """Note for how many seconds a right credential was read from the store."""

    def unsettled(self, standing: Sequence[Unsettled], now: datetime) -> None:
        """Note how many payouts are unsettled."""

    def show(self, gauge: Gauge, value: float) -> None:
        """Show a gauge's value as it is now."""

    def payout_ended(self, provider: str, state: str, took_s: float) -> None:
        """Note a payout that reached a final state, and how long it took from its acceptance."""

    def money(self, provider: str, state: str, centavos: int) -> None:
        """Note the amount of a payout that was accepted, or that reached a final state."""

    def callback(self, provider: str, result: str) -> None:
        """Note a callback that was taken, repeated, forged or unproven."""


_record: ContextVar[AccessRecord | None] = ContextVar("access_record", default=None)


def current_record() -> AccessRecord | None:
    """Return the record of the request being served; None outside of one."""
    return _record.get()


def begin_record(record: AccessRecord) -> None:
    """Make ``record`` the current one for this task and the tasks that it starts."""
    _record.set(record)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """
    Unsettled payouts of a provider.

    Attributes:
        unresolved: Payouts whose outcome is not known.
        oldest_at: When the oldest of them was created; None when there is none.
        review: Payouts in review.
    """

    provider: str
    unresolved: int
    oldest_at: datetime | None
    review: int
