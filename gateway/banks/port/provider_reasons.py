"""The fixed words for why a call failed: for logs, metrics and evidence, never for a partner."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """
    Why a call failed.

    The first group is used only if certainly no byte of the request left us.
    """

    BREAKER_OPEN = "breaker_open"
    BULKHEAD_FULL = "bulkhead_full"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_MISSING = "certificate_missing"
    CLOSED = "closed"
    CONNECT_FAILED = "connect_failed"
    CONNECT_TIMEOUT = "connect_timeout"
    DEADLINE_PASSED = "deadline_passed"
    DNS_FAILED = "dns_failed"
    PROXY_REFUSED = "proxy_refused"
    TLS_FAILED = "tls_failed"
    UNSENDABLE = "unsendable"

    CANCELLED = "cancelled"
    CERTIFICATE_REFUSED = "certificate_refused"
    CONNECTION_LOST = "connection_lost"
    TIMEOUT = "timeout"

    ANSWER_CUT_SHORT = "answer_cut_short"
    CONTENT_CODING = "content_coding"
    CREDENTIALS_REFUSED = "credentials_refused"
    CREDENTIALS_UNFIT = "credentials_unfit"
    NOT_FOUND = "not_found"
    NOT_HTTP = "not_http"
    NOT_JSON = "not_json"
    NOT_SUPPORTED = "not_supported"
    RATE_LIMITED = "rate_limited"
    REDIRECTED = "redirected"
    REFUSED = "refused"
    SERVER_ERROR = "server_error"
    TOO_LARGE = "too_large"
    UNEXPECTED_STATUS = "unexpected_status"
    WRONG_SHAPE = "wrong_shape"

    ANSWERED = "answered"
    DUPLICATE = "duplicate"

    AMOUNT_MISMATCH = "amount_mismatch"
    E2E_ID_MALFORMED = "e2e_id_malformed"
    KEY_MISMATCH = "key_mismatch"
    DESTINATION_MISMATCH = "destination_mismatch"
    UNKNOWN_STATUS = "unknown_status"

    ADAPTER_RAISED = "adapter_raised"
    ADAPTER_ANSWER_INVALID = "adapter_answer_invalid"
    UNLISTED_REASON = "unlisted_reason"
