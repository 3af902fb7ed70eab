"""Requests and bank calls as log lines: an allow-list of fields, each of a known form."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
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
_LIMITED: Final = "SVC.GTW.005"
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_OUR_MISTAKE: Final = 500
# Reasons are few and fixed; masking one costs more than the rest of its line.
_masked: Final = lru_cache(maxsize=256)(mask_text)
_IDEMPOTENCY: Final = {
    **dict.fromkeys(("accepted", "rejected", "not_sent", "unknown"), "new"),
    "duplicate": "replay",
    "conflict": "mismatch",
}


def access(record: AccessRecord, at: datetime, always: Mapping[str, str]) -> Fields:
    """
    Describe a served request.

    Never in it: query, body, headers, the reference, a bank's words. A client
    id is whatever the caller wrote before it is proven, so only the form of
    ours is shown.
    """
    line = _common(record, at, always)
    if record.client_id:
        _add_caller(line, record)
    if record.provider:
        _add_provider(line, record)
    if record.payout:
        line.update(payout=record.payout, idempotency=idempotency(record.payout))
    if record.code or record.reason:
        _add_refusal(line, record)
    return line


def provider_call(call: ProviderCall, at: datetime, always: Mapping[str, str]) -> Fields:
    """Describe a call of a bank."""
    return {
        "ts": at,
        "level": "info",
        "event": "provider_call",
        "trace_id": call.trace_id,
        "provider": call.provider,
        "operation": call.operation,
        "outcome": call.outcome,
        "duration_ms": _ms(call.duration_s),
        "http_status": call.http_status,
        "bytes_left": call.bytes_left,
        **always,
    }


def idempotency(payout: str) -> str:
    """Say what a payout's outcome means for its reference; empty when nothing was decided."""
    return _IDEMPOTENCY.get(payout, "")


def security_event(record: AccessRecord) -> str:
    """Name a refusal in OWASP's logging vocabulary; empty when it is none."""
    if record.code == _LIMITED:
        return "excess_rate_limit_exceeded"
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


def _common(record: AccessRecord, at: datetime, always: Mapping[str, str]) -> Fields:
    """Say what is there for every request."""
    return {
        "ts": at,
        "level": _level(record.status),
        "event": "access",
        "trace_id": record.trace_id,
        "surface": record.surface,
        "route": record.route,
        "method": record.method if record.method in _METHODS else OTHER,
        "path_template": record.path_template,
        "status": record.status,
        "duration_ms": _ms(record.duration_s),
        "ip": _shown(record.address, _ADDRESS),
        "bytes_in": record.bytes_in,
        "bytes_out": record.bytes_out,
        **always,
    }


def _add_caller(line: Fields, record: AccessRecord) -> None:
    """Say who asked, and about which account."""
    line["client_id"] = _shown(record.client_id, _CLIENT_ID)
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
    line["reason_id"] = _masked(record.reason)
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


def _shown(text: str, form: re.Pattern[str]) -> str:
    """Show a text of the expected form only."""
    return text if not text or form.fullmatch(text) else OTHER
