"""The port to the metrics: countable events, and gauges."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Event(StrEnum):
    """Events counted without a record of their own; the comment names the label."""

    ADAPTER_FAULT = "adapter_fault"  # provider.operation
    CACHE_FAILURE = "cache_failure"  # get, put, drop, unsealed
    CAS_LOSS = "cas_loss"  # provider
    CREDENTIAL_CACHE = "credential_cache"  # hit, miss, negative
    DAY_READING = "day_reading"  # provider.outcome: a DayOutcome
    DELIVERY = "delivery"  # outcome: a DeliveryOutcome
    FORGOTTEN = "forgotten"  # source.record, such as feed.account
    LOGIN = "login"  # result
    LOOK_UP_FAILED = "look_up_failed"  # provider
    MFA = "mfa"  # factor.result
    NOTIFICATION = "notification"  # way.state
    NOT_PIX = "not_pix"  # provider
    PAYOUT_HOLD = "payout_hold"  # outcome: a HoldOutcome
    PAYOUT_RETURNED = "payout_returned"  # provider
    PAYOUT_SIMILAR = "payout_similar"  # provider
    PAYOUT_STOPPED = "payout_stopped"  # scope of the kill switch
    PAYOUT_UNREADABLE = "payout_unreadable"  # provider
    PAYMENT_WALK = "payment_walk"  # provider.outcome: a WalkOutcome
    PROVIDER_LIMITED = "provider_limited"  # provider.operation.limit: rate, width, pause
    QUOTA = "quota"  # policy.result: allowed, limited
    REQUEST_LOG = "request_log"  # kept, dropped, thinned
    ROW_UNREADABLE = "row_unreadable"  # provider
    SESSION_EVENT = "session_event"  # event
    SHARED_LIMITS = "shared_limits"  # answered, late, failed
    SHED = "shed"  # priority.reason
    SINGLE_SIGN_ON = "single_sign_on"  # outcome: a SignOnOutcome
    STATEMENT_PAGE = "statement_page"  # provider.source: walk, snapshot
    STATEMENT_TOO_LARGE = "statement_too_large"  # provider
    TOKEN_REFRESH = "token_refresh"  # noqa: S105 - the name of an event; label: result
    TRACE_ID_REPLACED = "trace_id_replaced"  # reason
    UNKNOWN_FIELD = "unknown_field"  # route
    UNKNOWN_STATUS = "unknown_status"  # provider.operation


class DayOutcome(StrEnum):
    """
    What came of reading a day of an account.

    RECONCILED: nothing differs. DIFFERS: something needs a person. FAILED: its bank gave no usable
    answer, or its balance changed meanwhile. NOT_OFFERED: its bank does not show what is needed.
    """

    RECONCILED = "reconciled"
    DIFFERS = "differs"
    FAILED = "failed"
    NOT_OFFERED = "not_offered"


class DeliveryOutcome(StrEnum):
    """
    What came of a try to deliver an event.

    FAILED: it is tried again. GAVE_UP: it was the last try. GONE: the endpoint wants no more (410).
    """

    DELIVERED = "delivered"
    FAILED = "failed"
    GAVE_UP = "gave_up"
    GONE = "gone"


class SignOnOutcome(StrEnum):
    """
    What came of a call to a company's identity provider, or of what it answered.

    PROVEN: it named a user of ours. REFUSED: what it sent was not in order, or gives nothing here.
    UNREACHABLE: it did not answer usably. ENDED: it told of the end of a session. BREAK_GLASS: a
    named person signed in without it.
    """

    PROVEN = "proven"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    ENDED = "ended"
    BREAK_GLASS = "break_glass"


class WalkOutcome(StrEnum):
    """
    What came of an account's turn.

    WALKED: it was read. FAILED: its bank gave no usable answer, or is not configured here; it is
    read from the same instant next time. NOT_OFFERED: it has no bank, or one that shows no payments
    with their ids.
    """

    WALKED = "walked"
    FAILED = "failed"
    NOT_OFFERED = "not_offered"


class HoldOutcome(StrEnum):
    """
    The end of a hold.

    HELD: it began. SENT: it is over, and the payout was sent. RELEASED: a person let it go, before
    it is sent. REFUSED: a person refused it. NOT_ALLOWED: it may not be sent any more. EXPIRED: its
    day was over.
    """

    HELD = "held"
    SENT = "sent"
    RELEASED = "released"
    REFUSED = "refused"
    NOT_ALLOWED = "not_allowed"
    EXPIRED = "expired"


class Gauge(StrEnum):
    """A figure that is shown whenever it changes; others are read with every scrape."""

    CACHE_BYTES = "cache_bytes"
    CREDENTIAL_STORE_UP = "credential_store_up"
    WORKER_ABSENT = "worker_absent"


Count = Callable[[Event, str], None]
"""Count an event under a label."""

Show = Callable[[Gauge, float], None]
"""Show a gauge's value."""
