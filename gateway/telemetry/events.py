"""Requests and bank calls as log lines: an allow-list of fields, each of a known form."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from functools import lru_cache
from typing import Final

from gateway.telemetry.families import OTHER
from gateway.telemetry.metrics import METHODS
from gateway.telemetry.records import AccessRecord, ProviderCall
from gateway.telemetry.redaction import mask_text

Fields = dict[str, object]

_CLIENT_ID: Final = re.compile(r"cli_[a-z2-7]{20}", re.ASCII)
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)
_METHODS: Final = frozenset(METHODS)
_BY_CODE: Final = {
    "SVC.GTW.005": "excess_rate_limit_exceeded",
    "TOO_MANY_ATTEMPTS": "authn_login_lock",
    "CSRF_FAILED": "malicious_csrf",
    "VALIDATION_FAILED": "input_validation_fail",
}
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_OUR_MISTAKE: Final = 500
_IDEMPOTENCY: Final = {
    **dict.fromkeys(("accepted", "rejected", "not_sent", "unknown"), "new"),
    "duplicate": "replay",
    "conflict": "mismatch",
}


def access(record: AccessRecord, at: datetime) -> Fields:
    """
    Describe what is this served request's own; ``access_kind`` says the rest.

    Never in either: query, body, headers, the reference, a bank's words. A client
    id is whatever the caller wrote before it is proven, so only the form of
    ours is shown.
    """
    line: Fields = {
        "ts": at,
        "trace_id": record.trace_id,
        "duration_ms": _ms(record.duration_s),
        "ip": _address(record.address),
        "bytes_in": record.bytes_in,
        "bytes_out": record.bytes_out,
    }
    if record.client_id or record.user_id:
        _add_caller(line, record)
    if record.provider:
        _add_provider(line, record)
    return line


def access_kind(record: AccessRecord) -> Fields:
    """Describe what a served request has in common with others of its kind."""
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


def provider_call(call: ProviderCall, at: datetime) -> Fields:
    """Describe what is this bank call's own; ``provider_call_kind`` says the rest."""
    return {"ts": at, "trace_id": call.trace_id, "duration_ms": _ms(call.duration_s)}


def provider_call_kind(call: ProviderCall) -> Fields:
    """Describe what a call of a bank has in common with others of its kind."""
    return {
        "level": "info",
        "event": "provider_call",
        "provider": call.provider,
        "operation": call.operation,
        "outcome": call.outcome,
        "http_status": call.http_status,
        "bytes_left": call.bytes_left,
    }


def idempotency(payout: str) -> str:
    """Say what a payout's outcome means for its reference; empty when nothing was decided."""
    return _IDEMPOTENCY.get(payout, "")


def security_event(record: AccessRecord) -> str:
    """Name a refusal in OWASP's logging vocabulary; empty when it is none."""
    if record.code in _BY_CODE:
        return _BY_CODE[record.code]
    if record.code.startswith("SVC.VAL."):
        return "input_validation_fail"
    if record.status == _UNAUTHORIZED:
        return "authn_login_fail"
    if record.status == _FORBIDDEN or record.reason == "not_visible":
        return "authz_fail"
    return ""


@lru_cache(maxsize=4096)
def account_hash(account_id: str) -> str:
    """Make the short form under which an account is found in the logs: 16 hex of SHA-256."""
    return hashlib.sha256(account_id.encode("utf-8", "replace")).hexdigest()[:16]


def _add_caller(line: Fields, record: AccessRecord) -> None:
    """Say who asked, and about which account."""
    if record.client_id:
        line["client_id"] = _client_id(record.client_id)
    if record.user_id:
        line["user_id"] = record.user_id
    if record.company_id:
        line["company_id"] = record.company_id
    if record.account_id:
        line["account_id_hash"] = account_hash(record.account_id)


def _add_provider(line: Fields, record: AccessRecord) -> None:
    """Say which bank was asked."""
    line["provider"] = record.provider
    line["provider_ms"] = _ms(record.provider_s)
    line["provider_outcome"] = record.provider_outcome


def _add_refusal(line: Fields, record: AccessRecord) -> None:
    """Say why not."""
    line["code"] = record.code
    line["reason_id"] = mask_text(record.reason)
    security = security_event(record)
    if security:
        line["security_event"] = security


def _level(status: int) -> str:
    """Rate a status: 500 is our mistake, other 5xx are news, a caller's mistake is none."""
    if status < _OUR_MISTAKE:
        return "info"
    return "error" if status == _OUR_MISTAKE else "warning"


def _ms(seconds: float) -> float:
    """Turn seconds into milliseconds, to the microsecond."""
    return int(seconds * 1_000_000 + 0.5) / 1000  # a third of the time that round() takes


@lru_cache(maxsize=1024)
def _address(text: str) -> str:
    """Show an address, and nothing else."""
    return text if not text or _ADDRESS.fullmatch(text) else OTHER


@lru_cache(maxsize=1024)
def _client_id(text: str) -> str:
    """Show an id of our form, and nothing else."""
    return text if _CLIENT_ID.fullmatch(text) else OTHER
