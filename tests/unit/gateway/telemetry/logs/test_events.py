"""Requests and bank calls as they are read in the log."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.telemetry.logs import events
from gateway.telemetry.logs.lines import encode
from gateway.telemetry.records import AccessRecord, ProviderCall

AT = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
LOG_HASH = "0123456789abcdef"
CLIENT = "cli_abcdefghij234567abcd"
CANARIES = ("gws_canary", "529.982.247-25", "maria@example.com", "hunter2")


def record(**fields: Any) -> AccessRecord:
    return AccessRecord(
        **{
            "trace_id": "t-1",
            "surface": "banking",
            "route": "banking.balance",
            "path_template": "/baas/v1/account/{account_id}/balance",
            "method": "GET",
            "status": 200,
            "duration_s": 0.0123456,
            "address": "127.0.0.1",
            "bytes_in": 1,
            "bytes_out": 2,
            **fields,
        }
    )


def access(record: AccessRecord) -> dict[str, Any]:
    """Describe a request whole, as its line is read."""
    line = encode(events.access(record, AT, events.access_kind(record)))
    shown: dict[str, Any] = json.loads(line, object_pairs_hook=only_once)
    return shown


def only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read an object without repeated names."""
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def test_a_request_is_one_flat_line():
    line = access(record())

    assert line == {
        "ts": "2026-11-20T10:00:00Z",
        "level": "info",
        "event": "access",
        "trace_id": "t-1",
        "surface": "banking",
        "route": "banking.balance",
        "method": "GET",
        "path_template": "/baas/v1/account/{account_id}/balance",
        "status": 200,
        "duration_ms": 12.346,
        "ip": "127.0.0.1",
        "bytes_in": 1,
        "bytes_out": 2,
    }


def test_the_caller_is_logged_and_the_account_only_as_a_hash():
    """The hash is printed with the account, to search the logs by it."""
    caller = {"client_id": CLIENT, "company_id": "company", "account_hash": LOG_HASH}

    line = access(record(**caller))

    assert (line["client_id"], line["company_id"]) == (CLIENT, "company")
    assert line["account_id_hash"] == LOG_HASH
    assert "account_id_hash" not in access(record())


def test_a_bank_s_part_of_a_request_is_logged_separately():
    bank = {"provider": "sandbox", "provider_s": 0.01, "provider_outcome": "ok"}

    line = access(record(**bank))

    assert (line["provider"], line["provider_ms"], line["provider_outcome"]) == (
        "sandbox",
        10.0,
        "ok",
    )


def test_a_time_is_written_to_the_microsecond():
    """Rounded, not cut."""
    cases = [
        (0.0, 0),
        (4e-7, 0),
        (6e-7, 0.001),
        (0.0123456, 12.346),
        (8.0, 8000),
        (29.9999996, 30000),
    ]

    for seconds, shown in cases:
        line = access(record(duration_s=seconds, provider="sandbox", provider_s=seconds))

        assert (line["duration_ms"], line["provider_ms"]) == (shown, shown)


def test_a_payout_is_logged_with_the_state_of_its_reference():
    cases = [
        ("accepted", "new"),
        ("rejected", "new"),
        ("not_sent", "new"),
        ("unknown", "new"),
        ("duplicate", "replay"),
        ("conflict", "mismatch"),
        ("intent_failed", ""),
    ]

    for payout, known in cases:
        line = access(record(payout=payout))

        assert (line["payout"], line["idempotency"]) == (payout, known)


def test_only_a_500_is_logged_as_an_error():
    cases = [(200, "info"), (404, "info"), (500, "error"), (502, "warning")]

    wrong = [
        (status, level)
        for status, level in cases
        if access(record(status=status))["level"] != level
    ]

    assert wrong == []


def test_a_refusal_has_its_reason_and_security_event():
    """OWASP's logging vocabulary."""
    cases = [
        ("SVC.AUT.010", 401, "invalid", "authn_login_fail"),
        ("SESSION_REQUIRED", 401, "missing", "session_use_after_expire"),
        ("SVC.AUT.010", 403, "permission", "authz_fail"),
        ("SVC.ACC.001", 404, "not_visible", "authz_fail"),
        ("SVC.GTW.005", 429, "quota_read", "excess_rate_limit_exceeded"),
        ("SVC.VAL.006", 400, "", "input_validation_fail"),
        ("SVC.ACC.006", 502, "timeout", None),
    ]

    for code, status, reason, event in cases:
        line = access(record(code=code, status=status, reason=reason))

        assert (line["code"], line["reason_id"], line.get("security_event")) == (
            code,
            reason,
            event,
        )


def test_a_caller_s_text_is_not_logged():
    """A method, a forwarded address or an unproven client id may hold anything."""
    for field in ["method", "address", "client_id", "reason"]:
        for canary in CANARIES[:3]:
            line = access(record(code="SVC.VAL.011", **{field: canary}))

            assert canary not in str(line)


@pytest.mark.parametrize("behind", ["x", "\n", " gws_canary"])
def test_a_client_id_with_extra_characters_is_not_logged(behind: str):
    """It is unproven: only our exact format is known to be harmless."""
    line = access(record(client_id=CLIENT + behind))

    assert line["client_id"] == "_OTHER"


def test_a_company_named_by_an_unauthenticated_caller_is_not_logged():
    """It is the company of the requested account, and the caller has not proven access to it."""
    stranger = access(record(company_id="company"))
    person = access(record(company_id="company", user_id="maria"))

    assert "company_id" not in stranger
    assert person["company_id"] == "company"


def test_a_bank_call_is_one_flat_line():
    call = ProviderCall(
        provider="sandbox",
        operation="get_balance",
        outcome="timeout",
        duration_s=8.0,
        http_status=0,
        bytes_left=True,
        trace_id="t-1",
    )

    kind = events.provider_call_kind(call)
    line = json.loads(encode(events.provider_call(call, AT, kind)), object_pairs_hook=only_once)

    assert line == {
        "ts": "2026-11-20T10:00:00Z",
        "level": "info",
        "event": "provider_call",
        "trace_id": "t-1",
        "provider": "sandbox",
        "operation": "get_balance",
        "outcome": "timeout",
        "duration_ms": 8000.0,
        "http_status": 0,
        "bytes_left": True,
    }
