"""Every series of the gateway, one line each."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from gateway.core import errors, user_errors
from gateway.core.change_feed import Kept as KeptKind
from gateway.core.company_scope import StopScope
from gateway.core.permissions import Resource
from gateway.core.priority import Priority
from gateway.core.reasons import Unsigned
from gateway.core.rights import Area
from gateway.telemetry.metrics.cells import Counter, Gauge, Histogram
from gateway.telemetry.metrics.families import Family, Label
from gateway.telemetry.ports import (
    DayOutcome,
    DeliveryOutcome,
    HoldOutcome,
    SignOnOutcome,
    WalkOutcome,
)

METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
OUTCOMES_NOT_SENT: Final = ("breaker_open", "bulkhead_full")

SURFACE: Final = Label("surface")
ROUTE: Final = Label("route")
PROVIDER: Final = Label("provider")
OPERATION: Final = Label("operation")
POLICY: Final = Label("policy")
METHOD: Final = Label("method", METHODS)
STATUS: Final = Label("status", tuple(map(str, range(100, 600))))
STATUS_CLASS: Final = Label("status_class", ("1xx", "2xx", "3xx", "4xx", "5xx"))
CODE: Final = Label(
    "code", tuple(sorted({each.code for each in errors.CATALOGUE + user_errors.CATALOGUE}))
)
RESOURCE: Final = Label("resource", tuple(dict.fromkeys((*map(str, Resource), *map(str, Area)))))
OPERATION_CLASS: Final = Label("operation_class", ("read", "payout"))
STATE_TO: Final = Label("to", ("closed", "half_open", "open"))
SCHEME: Final = Label("scheme", ("basic", "bearer", "session"))
PAYOUT_METHOD: Final = Label("method", ("pix", "bank_account"))
AUTH_RESULT: Final = Label(
    "result",
    (
        *("ok", "missing", "malformed", "wrong_scheme", "invalid"),
        *("revoked", "expired", "throttled", "unavailable"),
        *map(str, Unsigned),
    ),
)
DENIED: Final = Label(
    "reason",
    (
        *("no_caller_rule", "network", "certificate"),
        *("permission", "scope", "not_visible", "inactive", "unverified"),
    ),
)
CACHE_RESULT: Final = Label("result", ("hit", "miss", "negative", "stale"))
DECISION: Final = Label("result", ("allowed", "limited"))
PRIORITY: Final = Label("priority", tuple(each.word for each in Priority))
SHED: Final = Label(
    "reason", ("in_flight", "loop_lag", "store_wait", "strangers", "draining", "store_full")
)
REPLACED: Final = Label("reason", ("unacceptable",))
IDEMPOTENCY: Final = Label("result", ("new", "replay", "mismatch"))
HOLD_OUTCOME: Final = Label("outcome", tuple(HoldOutcome))
STOP_SCOPE: Final = Label("scope", tuple(StopScope))
GUARDED: Final = Label("scope", (StopScope.CREDENTIAL, StopScope.ACCOUNT, StopScope.COMPANY))
PAYOUT_OUTCOME: Final = Label(
    "outcome",
    (
        *("accepted", "rejected", "duplicate", "conflict", "intent_failed", "not_sent"),
        *("credentials_refused", "rate_limited", "unknown", "held"),
    ),
)
PROVIDER_OUTCOME: Final = Label(
    "outcome",
    (
        *("ok", "not_found", "rejected", "timeout", "connect_error", "bad_response"),
        *("unavailable", "rate_limited", "credentials_refused", *OUTCOMES_NOT_SENT),
    ),
)
LOGIN_RESULT: Final = Label(
    "result", ("ok", "bad_credentials", "mfa_required", "elsewhere", "locked")
)
SIGN_ON_OUTCOME: Final = Label("outcome", tuple(SignOnOutcome))
FACTOR: Final = Label("factor", ("totp", "recovery", "passkey"))
FACTOR_RESULT: Final = Label("result", ("ok", "wrong", "expired", "locked", "reused"))
LOCKED: Final = Label(
    "scope",
    (
        *("account_ip", "ip", "consecutive", "device", "factor", "reset_ip", "link"),
        "hashing_busy",
    ),
)
RECOVERY_STAGE: Final = Label("stage", ("forgot", "reset", "invitation"))
RECOVERY_RESULT: Final = Label("result", ("ok", "refused", "limited", "failed"))
SESSION_EVENT: Final = Label(
    "event",
    ("created", "rotated", "recovered", "idle_end", "absolute_end", "logout", "revoked"),
)
REFRESH_RESULT: Final = Label(
    "result", ("ok", "coalesced", "reuse_race", "reuse_attack", "invalid_grant", "error")
)
CSRF_REASON: Final = Label(
    "reason", ("token", "answer_lost", "fetch_site", "origin", "content_type")
)
CALLBACK_RESULT: Final = Label("result", ("taken", "repeated", "forged", "unproven"))
FORGOTTEN: Final = Label("record", tuple(KeptKind))
TOLD_BY: Final = Label("told_by", ("own", "feed", "restart"))
PANEL_STATE: Final = Label("state", ("full", "mfa_pending"))
KEY_STATE: Final = Label("state", ("next", "signing", "former"))
CERTIFICATE: Final = Label("name")
BANK_LIMIT: Final = Label("limit", ("rate", "width", "pause"))
WALK_OUTCOME: Final = Label("outcome", tuple(WalkOutcome))
DAY_OUTCOME: Final = Label("outcome", tuple(DayOutcome))
PAGE_SOURCE: Final = Label("source", ("walk", "snapshot"))
CACHE_WORK: Final = Label("work", ("get", "put", "drop", "unsealed"))
SHARED_RESULT: Final = Label("result", ("answered", "late", "failed"))
KEPT_RESULT: Final = Label("result", ("kept", "dropped", "thinned"))
_FINAL: Final = ("failed", "paid", "rejected")
FINAL_STATE: Final = Label("state", _FINAL)
MONEY_STATE: Final = Label("state", ("accepted", *_FINAL))
STORE_WORK: Final = Label("work", ("read", "write"))
LOST_LINES: Final = Label("reason", ("failed", "full"))
WORST: Final = (
    Label("credential"),
    Label("company"),
    Label("result", ("limited", "refused", "failed", "bank_failed")),
)
TURNED_AWAY: Final = Label("reason", ("address", "descriptors", "full", "peer"))
DELIVERY_OUTCOME: Final = Label("outcome", tuple(DeliveryOutcome))
NOTIFICATION_WAY: Final = Label("way", ("mail", "push", "chat"))
NOTIFICATION_STATE: Final = Label("state", ("sent", "failed"))
ENDPOINT_STATE: Final = Label("state", ("pending", "active", "paused"))
TABLE: Final = Label("table", ("request_log", "payout_events", "events"))
TASK: Final = Label(
    "task",
    (
        *("change feed", "processes", "cache", "charges", "provider minutes"),
        *("audit tally", "request log", "readings", "last uses", "waiting events", "worker"),
        *("unsettled payouts", "callbacks", "gauges", "audit", "presence", "recall", "mail"),
        *("foreign debits", "missed events", "approvals", "figures", "old sign-ins", "retention"),
        *("notifications", "push", "chats"),
        *("outflow guard", "expiring credentials", "feed readers", "payment walks", "days"),
        "files of payouts",
        "ends of files",
        *("deliveries", "endpoints", "sandbox accounts"),
        *("reset links", "event loop lag", "store"),
    ),
)
BUILD: Final = (Label("version"), Label("commit"), Label("python"), Label("environment"))

# From a quarter of a millisecond on: that is what a balance of our own takes.
_FINE: Final = (0.00025, 0.0005, 0.001, 0.0025)
_BUCKETS: Final = (*_FINE, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_PROVIDER: Final = (*_FINE, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20, 30)
_OVERHEAD: Final = (*_FINE, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25)
_STORE: Final = (*_FINE, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_SETTLEMENT: Final = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400)
"""Most payouts settle in seconds; others within a day, or they are decided in a review."""

_declared: list[Family[Any]] = []


def _counter(name: str, meaning: str, *labels: Label) -> Family[Counter]:
    family = Family(name=name, metric=Counter, meaning=meaning, labels=labels)
    _declared.append(family)
    return family


def _gauge(name: str, meaning: str, *labels: Label, joined: str = "max") -> Family[Gauge]:
    family = Family(name=name, metric=Gauge, meaning=meaning, labels=labels, joined=joined)
    _declared.append(family)
    return family


def _timing(
    name: str, meaning: str, bounds: tuple[float, ...], *labels: Label
) -> Family[Histogram]:
    family = Family(name=name, metric=Histogram, meaning=meaning, labels=labels, bounds=bounds)
    _declared.append(family)
    return family


_sum = partial(_gauge, joined="sum")

# Each series is one line, whatever its length: that is how it is found, added and removed.
# ruff: noqa: E501 - (same reason)
# fmt: off
REQUESTS: Final = _counter("pixgate_http_requests_total", "Requests answered.", SURFACE, ROUTE, METHOD, STATUS)
REQUEST_DURATION: Final = _timing("pixgate_http_request_duration_seconds", "From the request's head to the answer.", _BUCKETS, SURFACE, ROUTE, METHOD, STATUS_CLASS)
REQUESTS_IN_FLIGHT: Final = _sum("pixgate_http_requests_in_flight", "Requests being served, of all surfaces.", PRIORITY)
IN_FLIGHT_LIMIT: Final = _sum("pixgate_http_requests_in_flight_limit", "Requests in flight from which on new ones of the class are turned away.", PRIORITY)
OVERHEAD: Final = _timing("pixgate_overhead_seconds", "A request's duration without the part spent on banks.", _OVERHEAD, ROUTE)
ERRORS: Final = _counter("pixgate_errors_total", "Requests refused, by public code.", SURFACE, ROUTE, CODE, STATUS)
WORST_CREDENTIALS: Final = _sum("pixgate_worst_credential_errors", "Requests of the last five minutes that were answered 429 (limited), another 4xx or 501 (refused), 502 (bank_failed) or another 5xx (failed, by us): of the ten credentials that have most of each in this process.", *WORST)
AUTH_ATTEMPTS: Final = _counter("pixgate_auth_attempts_total", "Authenticated or refused requests.", SCHEME, AUTH_RESULT)
AUTH_DURATION: Final = _timing("pixgate_auth_duration_seconds", "Reading the credential of a right secret from the database, the wait for it included; not where it was cached.", _BUCKETS, SCHEME)
DENIALS: Final = _counter("pixgate_authz_denied_total", "Known callers that were not let through.", DENIED, RESOURCE)
CREDENTIAL_CACHE: Final = _counter("pixgate_credential_cache_requests_total", "Look-ups in the credential cache.", CACHE_RESULT)
CREDENTIAL_STORE_UP: Final = _gauge("pixgate_credential_store_up", "1 while credentials can be read, else 0.")
CHANGE_FEED_AGE: Final = _gauge("pixgate_change_feed_age_seconds", "How long ago this process read the audit log to its end; it reads twice a second.")
RECORDS_BELIEVED: Final = _gauge("pixgate_kept_records_believed", "1 while kept records serve, 0 while every request reads the store since the audit log cannot be followed.", joined="min")
RECORDS_FORGOTTEN: Final = _counter("pixgate_kept_records_forgotten_total", "Kept records dropped since they were changed: by this process, by another one through the audit log, or all at once.", TOLD_BY, FORGOTTEN)
QUOTA_DECISIONS: Final = _counter("pixgate_ratelimit_decisions_total", "Requests weighed against a quota.", POLICY, DECISION)
SHARED_LIMITS: Final = _counter("pixgate_shared_limits_calls_total", "Calls of the Redis or Valkey that counts limits for all processes. While it is late (20 ms) or fails, each process uses its share, and calls it less than three times a second.", SHARED_RESULT)
CONNECTIONS_OPEN: Final = _sum("pixgate_http_connections_open", "Connections to the public listener.")
CONNECTIONS_LIMIT: Final = _sum("pixgate_http_connections_limit", "The most connections to the public listener.")
CONNECTIONS_TURNED_AWAY: Final = _counter("pixgate_http_connections_turned_away_total", "Connections closed on arrival: too many of one address, too many in all, too few file descriptors left, or not from a proxy of ours.", TURNED_AWAY)
SHED_REQUESTS: Final = _counter("pixgate_shed_total", "Requests turned away to protect the others.", PRIORITY, SHED)
VALIDATION_FAILURES: Final = _counter("pixgate_validation_failures_total", "Requests refused for their content.", ROUTE, CODE)
UNKNOWN_FIELDS: Final = _counter("pixgate_validation_unknown_fields_total", "Unknown body fields; ignored.", ROUTE)
PROVIDER_REQUESTS: Final = _counter("pixgate_provider_requests_total", "Calls of a bank, the ones refused here included.", PROVIDER, OPERATION, PROVIDER_OUTCOME)
PROVIDER_DURATION: Final = _timing("pixgate_provider_request_duration_seconds", "Calls that were made, to the end of the answer.", _PROVIDER, PROVIDER, OPERATION)
PROVIDER_RETRIES: Final = _counter("pixgate_provider_retries_total", "Reads that were repeated.", PROVIDER, OPERATION)
PROVIDER_IN_FLIGHT: Final = _sum("pixgate_provider_in_flight", "Calls of a bank now.", PROVIDER)
PROVIDER_IN_FLIGHT_LIMIT: Final = _sum("pixgate_provider_in_flight_limit", "The most calls of a bank at once.", PROVIDER)
PROVIDER_LIMITED: Final = _counter("pixgate_provider_limited_total", "Calls refused here, unsent: beyond the rate or the calls at once that the bank allows an account, or during a pause that it requested.", PROVIDER, OPERATION, BANK_LIMIT)
PROVIDER_LOOK_UPS_FAILED: Final = _counter("pixgate_provider_lookup_failures_total", "Look-ups of a bank's host name, or of its proxy's, that failed or took over a second; the addresses found last serve for ten minutes more.", PROVIDER)
STATEMENT_PAGES: Final = _counter("pixgate_statement_pages_total", "Pages of statements: from a walk of the whole window at the bank, or from the snapshot of an earlier walk.", PROVIDER, PAGE_SOURCE)
STATEMENTS_TOO_LARGE: Final = _counter("pixgate_statement_too_large_total", "Walks of statements that were not kept, since the window is larger than statements.snapshot_bytes: each of its pages walks it again.", PROVIDER)
CACHE_BYTES: Final = _sum("pixgate_cache_bytes", "Bytes and entries in this process's cache.")
CACHE_FAILURES: Final = _counter("pixgate_cache_failures_total", "Work that Redis did not do in time, or returned values that were not sealed by us; served as if nothing had been kept.", CACHE_WORK)
PROVIDER_NOT_PIX: Final = _counter("pixgate_provider_not_pix_total", "Movements left out of statements for partners: they are not Pix.", PROVIDER)
PROVIDER_UNKNOWN_STATUS: Final = _counter("pixgate_provider_unknown_status_total", "States unknown to an adapter; read as processing.", PROVIDER, OPERATION)
PROVIDER_ROWS_UNREADABLE: Final = _counter("pixgate_provider_rows_unreadable_total", "Rows of lists of banks that could not be read, and were left out; the list is shown without them.", PROVIDER)
ADAPTER_FAULTS: Final = _counter("pixgate_adapter_faults_total", "Calls in which an adapter raised a forbidden exception, or returned an impossible value.", PROVIDER, OPERATION)
BREAKER_STATE: Final = _gauge("pixgate_breaker_state", "0 closed, 1 half-open, 2 open.", PROVIDER, OPERATION_CLASS)
BREAKER_TRANSITIONS: Final = _counter("pixgate_breaker_transitions_total", "Changes of a breaker's state.", PROVIDER, OPERATION_CLASS, STATE_TO)
PAYOUTS: Final = _counter("pixgate_payouts_total", "Payout requests that reached the store.", PAYOUT_METHOD, PAYOUT_OUTCOME)
PAYOUTS_ENDED: Final = _counter("pixgate_payouts_ended_total", "Payouts that reached a final state; payouts that people ended in a review are not counted.", PROVIDER, FINAL_STATE)
PAYOUT_CENTAVOS: Final = _counter("pixgate_payout_centavos_total", "Money of payouts in centavos: accepted by the bank, and in the final state they reached; payouts that people ended in a review are not counted.", PROVIDER, MONEY_STATE)
PAYOUTS_RETURNED: Final = _counter("pixgate_payouts_returned_total", "Paid payouts of which money came back; one that comes back in parts may count with each.", PROVIDER)
PAYOUT_SETTLEMENT: Final = _timing("pixgate_payout_settlement_seconds", "From a payout's acceptance by us to its settlement.", _SETTLEMENT, PROVIDER)
PAYOUT_UNRESOLVED: Final = _gauge("pixgate_payout_unresolved", "Payouts whose outcome is unknown.", PROVIDER)
PAYOUT_OLDEST_UNRESOLVED: Final = _gauge("pixgate_payout_oldest_unresolved_seconds", "Age of the oldest of them.", PROVIDER)
PAYOUT_REVIEW: Final = _gauge("pixgate_payout_review", "Payouts in review.", PROVIDER)
PAYOUTS_DUE: Final = _gauge("pixgate_payout_due", "Unsettled payouts that are due for a look and that no worker has claimed; at most 10,000 of all banks are counted.", PROVIDER)
PAYOUT_OLDEST_DUE: Final = _gauge("pixgate_payout_oldest_due_seconds", "How long the first of them has been due.", PROVIDER)
LOOK_FIRST: Final = _gauge("pixgate_payout_look_first", "1 while payouts.look_first is on, as after a restore, else 0.")
PAYOUTS_STOPPED: Final = _counter("pixgate_payout_stopped_total", "Payouts refused by a stop.", STOP_SCOPE)
PAYOUT_HOLDS: Final = _counter("pixgate_payout_holds_total", "Payouts to a first payee that were held, and the ends of their holds.", HOLD_OUTCOME)
PAYOUTS_SIMILAR: Final = _counter("pixgate_payout_similar_total", "Payouts like another one under another reference.", PROVIDER)
PAYOUTS_UNREADABLE: Final = _counter("pixgate_payout_unreadable_total", "Unsettled payouts that were due for a look and cannot be read by this release; each is tried again every minute or so.", PROVIDER)
PAYOUT_CAS_LOSSES: Final = _counter("pixgate_payout_cas_losses_total", "Outcomes not recorded since another writer was first.", PROVIDER)
FOREIGN_DEBITS_OPEN: Final = _gauge("pixgate_foreign_debits_open", "Debits at the bank without a payout of ours, a refund or a fee, that are not explained yet.", PROVIDER)
FOREIGN_DEBITS_READING: Final = _gauge("pixgate_foreign_debits_oldest_reading_seconds", "Since the instant up to which the debits of an active account were read, the oldest of them; 0 where no bank lists movements.", PROVIDER)
PAYMENT_WALKS: Final = _counter("pixgate_payment_walks_total", "Turns of accounts whose movements are read for payments: walked, failed at the bank, or not offered by it.", PROVIDER, WALK_OUTCOME)
PAYMENT_WALK_OLDEST: Final = _gauge("pixgate_payment_walk_oldest_seconds", "Seconds since the instant up to which an account was searched for payments, of the account that is furthest behind; 0 where none is searched.", PROVIDER)
DAY_READINGS: Final = _counter("pixgate_day_readings_total", "Days of accounts that were compared with the bank in the background: reconciled, with a difference, failed at the bank, or not offered by it.", PROVIDER, DAY_OUTCOME)
DAYS_NOT_RECONCILED: Final = _gauge("pixgate_closings_not_reconciled", "Days of the last week, of active accounts, that the bank's answer had not reached by nine o'clock of the next day in São Paulo, and has not since.", PROVIDER)
OUTFLOW_OUTSIDE: Final = _gauge("pixgate_outflow_outside", "Credentials, accounts and companies whose payouts are outside their envelope, or that the outflow guard stopped.", GUARDED)
EVENTS_WAITING_OLDEST: Final = _gauge("pixgate_events_waiting_oldest_seconds", "How long the first event has been due for an active endpoint that takes its deliveries; 0 when there is none.")
EVENTS_DELIVERIES: Final = _counter("pixgate_events_deliveries_total", "Tries to deliver an event or a ping to an endpoint: delivered, failed and tried again later, given up after 13 tries, or refused for good (410).", DELIVERY_OUTCOME)
EVENTS_ENDPOINTS: Final = _gauge("pixgate_events_endpoints", "Endpoints of partners.", ENDPOINT_STATE)
IDEMPOTENT_REQUESTS: Final = _counter("pixgate_idempotency_total", "Payout requests by the stored state of the reference.", IDEMPOTENCY)
LOGINS: Final = _counter("pixgate_login_attempts_total", "Passwords that were tried.", LOGIN_RESULT)
FACTORS: Final = _counter("pixgate_mfa_attempts_total", "Second factors that were tried at sign-ins; a code that was right and used before is counted as reused, too, and so is a passkey whose counter stepped back.", FACTOR, FACTOR_RESULT)
SINGLE_SIGN_ON: Final = _counter("pixgate_single_sign_on_total", "Sign-ins at the identity providers of companies, what became of calls to them, and break-glass sign-ins without them.", SIGN_ON_OUTCOME)
LOCKOUTS: Final = _counter("pixgate_lockouts_total", "Tries refused since there were too many.", LOCKED)
RECOVERIES: Final = _counter("pixgate_password_recovery_total", "Links requested and used.", RECOVERY_STAGE, RECOVERY_RESULT)
SESSIONS_ACTIVE: Final = _gauge("pixgate_sessions_active", "Browsers signed in to the panel, or with a code left to give.", PANEL_STATE)
SESSION_EVENTS: Final = _counter("pixgate_session_events_total", "The panel's sessions, by how they ended.", SESSION_EVENT)
TOKEN_REFRESHES: Final = _counter("pixgate_token_refresh_total", "Refresh tokens shown, and calls that waited for another's.", REFRESH_RESULT)
CSRF_REJECTED: Final = _counter("pixgate_csrf_rejected_total", "Requests with a cookie that came from no page of ours.", CSRF_REASON)
SIGNING_KEYS: Final = _gauge("pixgate_signing_keys", "Keys of access tokens that are published.", KEY_STATE)
SIGNING_KEY_AGE: Final = _gauge("pixgate_signing_key_age_seconds", "How long the key in use has signed access tokens.")
APPROVALS_WAITING: Final = _gauge("pixgate_approvals_waiting", "Orders of people that wait for another person.")
APPROVALS_OLDEST: Final = _gauge("pixgate_approvals_oldest_waiting_seconds", "Age of the oldest of them.")
AUDIT_BROKEN: Final = _gauge("pixgate_audit_chain_broken", "1 when the audit log does not fit together, else 0; looked at every hour.")
MAILBOX_WAITING: Final = _gauge("pixgate_mailbox_oldest_waiting_seconds", "Age of the oldest mail that was not sent; 0 when there is none.")
NOTIFICATIONS: Final = _counter("pixgate_notifications_total", "Messages to people and chats about what needs somebody: sent, or given up.", NOTIFICATION_WAY, NOTIFICATION_STATE)
NOTIFICATIONS_WAITING: Final = _gauge("pixgate_notifications_oldest_waiting_seconds", "How long the first notification has been due; 0 when there is none.")
STORE_DURATION: Final = _timing("pixgate_store_seconds", "Units of work in the database, the wait for a connection included.", _STORE, STORE_WORK)
STORE_IN_USE: Final = _sum("pixgate_store_connections_in_use", "Connections to the database that work.")
STORE_LIMIT: Final = _sum("pixgate_store_connections_limit", "The most connections to the database: database.pool.")
STORE_WRITABLE: Final = _gauge("pixgate_store_writable", "1 when the database took a write at the last look, 15 seconds ago at most; 0 when it is away, full or read-only.", joined="min")
CLOCK_AHEAD: Final = _gauge("pixgate_clock_ahead_seconds", "How far the clock of this process is ahead of the database server's, negative where it is behind; absent with SQLite.")
STORE_SERVER_CONNECTIONS: Final = _gauge("pixgate_store_server_connections", "Connections that PostgreSQL has, of all programs; absent with SQLite.")
STORE_SERVER_LIMIT: Final = _gauge("pixgate_store_server_connections_limit", "The most that it takes of programs which are no superuser's.")
STORE_PARTITIONS_END: Final = _gauge("pixgate_store_partitions_end_timestamp_seconds", "Until when every row from now on has a partition of its own; absent with SQLite, and before a worker has looked.", TABLE)
STORE_WAITING: Final = _sum("pixgate_store_connections_waiting", "Units of work that wait for a connection to the database.")
AUDIT_HEAD: Final = _gauge("pixgate_audit_head", "Number of the last event of the audit log; looked at every hour, like the next.")
AUDIT_HEAD_HASH: Final = _gauge("pixgate_audit_head_hash", "The first six bytes of that event's hash as a whole number, to be kept elsewhere.")
CERTIFICATE_ENDS: Final = _gauge("pixgate_tls_certificate_expiry_timestamp_seconds", "When our certificate at a bank ends, as a Unix time.", CERTIFICATE)
ACCOUNT_CERTIFICATE_ENDS: Final = _gauge("pixgate_account_certificate_expiry_timestamp_seconds", "When the first certificate of an active account at a bank ends, as a Unix time; +Inf when there is none any more.", CERTIFICATE)
CALLBACKS: Final = _counter("pixgate_callbacks_total", "Callbacks received from banks; unproven where the bank's own keys could not be read.", PROVIDER, CALLBACK_RESULT)
CALLBACK_LAST: Final = _gauge("pixgate_callback_last_timestamp_seconds", "When this process last took a proven callback of the bank, as a Unix time.", PROVIDER)
CALLBACKS_WAITING: Final = _gauge("pixgate_callbacks_waiting", "Callbacks not looked into yet; at most 10,000 of all banks are counted.", PROVIDER)
CALLBACK_OLDEST_WAITING: Final = _gauge("pixgate_callback_oldest_waiting_seconds", "Age of the oldest of them.", PROVIDER)
KEPT_REQUESTS: Final = _counter("pixgate_request_log_total", "Requests for the request log; dropped when they come faster than they are stored, thinned when partners read much, are refused much, or strangers call.", KEPT_RESULT)
CONFIG_INFO: Final = _gauge("pixgate_config_info", "1; the digest of the configuration in force.", Label("digest"))
RELOAD_AT: Final = _gauge("pixgate_config_last_reload_timestamp_seconds", "When the configuration was last read, at the start or by SIGHUP, as a Unix time.")
RELOAD_SUCCESSFUL: Final = _gauge("pixgate_config_last_reload_successful", "1 when the files read then could be used, else 0.", joined="min")
WORKER_ABSENT: Final = _gauge("pixgate_worker_absent_seconds", "Since the last lease of any worker on the store ended; 0 while one is at work.")
TASK_FAILING: Final = _gauge("pixgate_task_failing_seconds", "How long every run of a background task has failed, the first of them included; 0 while its runs end well.", TASK)
TASK_SUCCESS_AGE: Final = _gauge("pixgate_task_success_age_seconds", "Since the last run of a background task that ended well, or since the task was started; absent where another process does the work.", TASK)
ROUTES_LOADED: Final = _gauge("pixgate_routes_loaded", "Routes served.")
POLICIES_LOADED: Final = _gauge("pixgate_policies_loaded", "Policies in front of them.")
PROVIDERS_LOADED: Final = _gauge("pixgate_providers_loaded", "Providers configured.")
EVENT_LOOP_LAG: Final = _timing("pixgate_event_loop_lag_seconds", "Delay of due callbacks on the event loop.", _BUCKETS)
LOG_LINES_LOST: Final = _counter("pixgate_log_lines_lost_total", "Log lines that were not written: full when standard output is not read and too many lines wait, failed when the system refused them.", LOST_LINES)
TRACE_ID_REPLACED: Final = _counter("pixgate_trace_id_replaced_total", "Requests given a trace id of ours.", REPLACED)
BUILD_INFO: Final = _gauge("pixgate_build_info", "1; version and commit.", *BUILD)
# fmt: on

SERIES: Final = tuple(_declared)
