"""Security events: to the log with who, to the metrics without."""

from __future__ import annotations

import pytest
import structlog
from structlog.testing import capture_logs

from gateway.telemetry.logs.events import SecurityLog
from gateway.telemetry.ports import Event


@pytest.fixture
def counted() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def log(counted: list[tuple[str, str]]) -> SecurityLog:
    structlog.reset_defaults()
    return SecurityLog(lambda *each: counted.append(each))


def test_events_of_a_user_are_logged(log: SecurityLog, counted: list[tuple[str, str]]):
    with capture_logs() as lines:
        log.on_event("authn_login_success", "u-1")

    assert lines == [{"event": "authn_login_success", "user_id": "u-1", "log_level": "info"}]
    assert counted == []


def test_a_reused_token_raises_an_alarm(log: SecurityLog, counted: list[tuple[str, str]]):
    with capture_logs() as lines:
        log.on_event("authn_token_reuse", "u-1")

    assert lines[0]["log_level"] == "warning"
    assert counted == [("token_refresh", "reuse_attack")]


def test_a_reused_code_raises_an_alarm(log: SecurityLog, counted: list[tuple[str, str]]):
    with capture_logs() as lines:
        log.on_event("authn_factor_reuse", "u-1")

    assert lines[0]["log_level"] == "warning"
    assert counted == [("mfa", "totp.reused")]


@pytest.mark.parametrize(
    ("label", "word"),
    [
        ("created", "session_created"),
        ("rotated", "session_renewed"),
        ("idle_end", "session_expired"),
        ("absolute_end", "session_expired"),
        ("revoked", "session_expired"),
        ("logout", ""),
    ],
)
def test_ends_of_sessions_are_counted_and_logged(
    log: SecurityLog, counted: list[tuple[str, str]], label: str, word: str
):
    with capture_logs() as lines:
        log.count(Event.SESSION_EVENT, label)

    assert [each["event"] for each in lines] == ([word] if word else [])
    assert counted == [(Event.SESSION_EVENT, label)]


def test_an_ordinary_event_is_counted_but_not_logged(
    log: SecurityLog, counted: list[tuple[str, str]]
):
    with capture_logs() as lines:
        log.count(Event.LOGIN, "created")

    assert (lines, counted) == ([], [("login", "created")])
