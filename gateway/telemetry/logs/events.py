"""Log lines of requests, bank calls and security events, by an allow-list of fields."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Final

import structlog

from gateway.telemetry.logs.redaction import mask_text
from gateway.telemetry.metrics.families import OTHER
from gateway.telemetry.metrics.series import METHODS
from gateway.telemetry.ports import Count, Event
from gateway.telemetry.records import AccessRecord, ProviderCall

Fields = dict[str, object]
_CLIENT_ID: Final = re.compile(r"cli_[a-z2-7]{20}", re.ASCII)
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)
_METHODS: Final = frozenset(METHODS)
_BY_CODE: Final = {
    "SVC.GTW.005": "excess_rate_limit_exceeded",
    "TOO_MANY_ATTEMPTS": "authn_login_lock",
    "CSRF_FAILED": "malicious_csrf",
    "SESSION_REQUIRED": "session_use_after_expire",
    "VALIDATION_FAILED": "input_validation_fail",
}
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_OUR_MISTAKE: Final = 500
_IDEMPOTENCY: Final = {
    **dict.fromkeys(("accepted", "held", "rejected", "not_sent", "unknown"), "new"),
    "duplicate": "replay",
    "conflict": "mismatch",
}


def access(record: AccessRecord, at: datetime, kind: Fields) -> Fields:
    """
    Build the line of a served request; ``kind`` has the fields of ``access_kind``.

    Never in it: query, body, headers, the reference, a bank's words.
    """
    line: Fields = {
        "ts": at,
        "trace_id": record.trace_id,
        "duration_ms": _milliseconds(record.duration_s),
        "bytes_in": record.bytes_in,
        "bytes_out": record.bytes_out,
        **_caller(record.address, record.client_id, record.user_id, record.company_id),
        **kind,
    }
    if record.w3c_trace_id:
        line["w3c_trace_id"] = record.w3c_trace_id
    if record.provider:
        line["provider"], line["provider_outcome"] = record.provider, record.provider_outcome
        line["provider_ms"] = _milliseconds(record.provider_s)
    if record.account_hash:
        line["account_id_hash"] = record.account_hash
    return line


@lru_cache(maxsize=4096)
def _caller(address: str, client_id: str, user_id: str, company_id: str) -> Fields:
    """
    Return the fields of the caller.

    A client id is any text until it is proven, so only the
    form of ours is shown.
    """
    line: Fields = {"ip": _address(address)}
    if client_id:
        line["client_id"] = _client_id(client_id)
    if user_id:
        line["user_id"] = user_id
    if (client_id or user_id) and company_id:
        line["company_id"] = company_id
    return line


def access_kind(record: AccessRecord) -> Fields:
    """Return the fields that requests of a kind share."""
    line: Fields = {
        "level": _level(record.status),
        "event": "access",
        "surface": record.surface,
        "route": record.route,
        "method": record.method if record.method in _METHODS else OTHER,
        "path_template": record.path_template,
        "status": record.status,
    }
    if record.payout:
        line.update(payout=record.payout, idempotency=idempotency(record.payout))
    if record.code or record.reason:
        _add_refusal(line, record)
    return line


def provider_call(call: ProviderCall, at: datetime, kind: Fields) -> Fields:
    """Build the line of a bank call; ``kind`` has the fields of ``provider_call_kind``."""
    line: Fields = {
        "ts": at,
        "trace_id": call.trace_id,
        "duration_ms": _milliseconds(call.duration_s),
        **kind,
    }
    if call.provider_key:
        line["provider_key"] = call.provider_key
    return line


def provider_call_kind(call: ProviderCall) -> Fields:
    """Return the fields that bank calls of a kind share."""
    return {
        "level": "info",
        "event": "provider_call",
        "provider": call.provider,
        "operation": call.operation,
        "outcome": call.outcome,
        "http_status": call.http_status,
        "bytes_left": call.bytes_left,
    }


def _milliseconds(seconds: float) -> float:
    """Return whole microseconds as milliseconds, in a quarter of the time of ``round``."""
    return (seconds * 1e6 + 0.5) // 1.0 / 1e3


def idempotency(payout: str) -> str:
    """Return the meaning of a payout's outcome for its reference; empty without a decision."""
    return _IDEMPOTENCY.get(payout, "")


def security_event(record: AccessRecord) -> str:
    """Return a refusal's word in OWASP's logging vocabulary; empty without one."""
    if record.code in _BY_CODE:
        return _BY_CODE[record.code]
    if record.code.startswith("SVC.VAL."):
        return "input_validation_fail"
    if record.status == _UNAUTHORIZED:
        return "authn_login_fail"
    if record.status == _FORBIDDEN or record.reason == "not_visible":
        return "authz_fail"
    return ""


def _add_refusal(line: Fields, record: AccessRecord) -> None:
    line["code"] = record.code
    line["reason_id"] = mask_text(record.reason)
    if record.field:
        line["field"] = record.field
    security = security_event(record)
    if security:
        line["security_event"] = security


def _level(status: int) -> str:
    if status < _OUR_MISTAKE:
        return "info"
    return "error" if status == _OUR_MISTAKE else "warning"


def _address(text: str) -> str:
    return text if not text or _ADDRESS.fullmatch(text) else OTHER


def _client_id(text: str) -> str:
    return text if _CLIENT_ID.fullmatch(text) else OTHER


_SESSION: Final = {
    "created": "session_created",
    "rotated": "session_renewed",
    "recovered": "session_recovered",
    **dict.fromkeys(("idle_end", "absolute_end", "revoked"), "session_expired"),
}
_ALARMS: Final = frozenset(
    {"authn_token_reuse", "authn_factor_reuse", "authn_passkey_reuse", "authn_login_lock"}
)
_REUSES: Final = {
    "authn_token_reuse": (Event.TOKEN_REFRESH, "reuse_attack"),
    "authn_factor_reuse": (Event.MFA, "totp.reused"),
    "authn_passkey_reuse": (Event.MFA, "passkey.reused"),
}


class SecurityLog:
    """Reports sign-ins and sessions to the log and the metrics."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._log = structlog.get_logger("gateway.security")

    def on_event(self, word: str, user_id: str) -> None:
        """Log an event of a user; ``user_id`` is empty when the user is not known."""
        say = self._log.warning if word in _ALARMS else self._log.info
        say(word, user_id=user_id)
        if word in _REUSES:
            self._count(*_REUSES[word])

    def count(self, event: Event, label: str) -> None:
        """Count an event; ends of sessions are logged too."""
        self._count(event, label)
        word = _SESSION.get(label, "") if event is Event.SESSION_EVENT else ""
        if word:
            self._log.info(word, reason_id=label)
