"""Limits of a provider's client: times, sizes and rates; part of its settings."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from gateway.core.limits import CallRate

Seconds = Annotated[float, msgspec.Meta(gt=0, le=600)]
Count = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class BreakerLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    When a circuit breaker opens, and for how long.

    Attributes:
        consecutive: Failures in a row that open it.
        share: Of at least ``calls`` calls within ``window_s``, the part whose
            failing opens it.
        open_s: The first pause; the n-th in a row lasts n times as long, at
            most ``longest_open_s``, give or take ``jitter``.
        whole_bank: Whether failures of several accounts stop every account's calls; without it
            each account's stop its own alone.
    """

    consecutive: Count = 5
    share: Share = 0.5
    calls: Count = 20
    window_s: Seconds = 30.0
    open_s: Seconds = 10.0
    longest_open_s: Seconds = 120.0
    jitter: Share = 0.2
    whole_bank: bool = True


class BulkheadLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The number of simultaneous calls of a provider, and of calls that wait for a place.

    Attributes:
        for_one: The most places of one account; None leaves it to ``AccountLimits``.
    """

    in_flight: Count = 64
    for_one: Count | None = None
    waiting: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 64
    wait_s: Seconds = 1.0


ALL_OPERATIONS: Final = "*"
"""The name of the bucket that all operations of a credential draw from."""


class AccountLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    A bank's limits for each account or credential; declared as data, with their source.

    Attributes:
        in_flight: Calls at once for one account; None keeps the declared bound, 0 lifts it.
        rates: For each credential, by operation, or by ``ALL_OPERATIONS`` for the sum; None
            lifts a rate that was declared.
    """

    in_flight: Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None = None
    rates: dict[str, CallRate | None] = {}

    def over(self, declared: AccountLimits) -> AccountLimits:
        """Return the limits in force: these where they are set, else the declared ones."""
        width = declared.in_flight if self.in_flight is None else self.in_flight
        return AccountLimits(in_flight=width, rates={**declared.rates, **self.rates})


class ClientLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The limits of one provider's client.

    Attributes:
        connect_s: Name resolution, connection and TLS together. Shorter than
            the others, so that a stalled connection differs from a bank that
            does not answer.
        read_s, payout_s: A whole call, from admission to the last byte of the
            answer; the repetition of a read included.
        first_byte_s: From the request written to the answer's first byte; None
            leaves it to the whole call's time.
        answer_bytes: The largest answer that is read.
        payout_connections: Opened ahead for payouts while payouts flow, each
            for one and two seconds old at most. One that the bank closes in
            the instant of the write leaves its payout unknown, which a
            connection opened for it would have shown as not sent.
        retry_share: The part of the calls in flight that may be repetitions;
            one is always allowed.
        account_limits: The bank's limits for each account (see ``within``).
        retry_after_s, retry_spread_s: The pause before a read is repeated,
            and its random addition at most.
    """

    connect_s: Seconds = 2.0
    read_s: Seconds = 8.0
    payout_s: Seconds = 20.0
    first_byte_s: Seconds | None = None
    answer_bytes: Annotated[int, msgspec.Meta(ge=1024, le=16 * 1024 * 1024)] = 1024 * 1024
    payout_connections: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    retry_share: Share = 0.1
    retry_after_s: Seconds = 0.05
    retry_spread_s: Seconds = 0.1
    breaker: BreakerLimits = BreakerLimits()
    bulkhead: BulkheadLimits = BulkheadLimits()
    account_limits: AccountLimits = AccountLimits()

    def within(self, declared: AccountLimits) -> ClientLimits:
        """Return these limits where the bank allows ``declared``; ours go over it."""
        return msgspec.structs.replace(self, account_limits=self.account_limits.over(declared))

    @property
    def account_in_flight(self) -> int:
        """The most calls at once of one account: the bank's bound and ours; 0 for no bound."""
        bounds = (self.account_limits.in_flight, self.bulkhead.for_one)
        return min((each for each in bounds if each), default=0)

    @property
    def bounds_accounts(self) -> bool:
        """Whether the calls of an account are limited at all."""
        return bool(self.account_in_flight) or any(self.account_limits.rates.values())

    @property
    def connections(self) -> int:
        """Connections open at once: as many as calls; see ``TransportLimits``."""
        return self.bulkhead.in_flight
