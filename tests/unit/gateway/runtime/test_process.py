"""The clocks of the process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.runtime.process import OFFSET, wall_clock

CLOSE = timedelta(seconds=5)


def away(environment: Environment, offset: str) -> timedelta:
    """Return how far a clock of this environment is from the real one."""
    return wall_clock(environment, {OFFSET: offset})() - datetime.now(UTC)


@pytest.mark.parametrize("environment", list(Environment))
def test_it_is_now_in_utc(environment: Environment):
    now = wall_clock(environment, {})()

    assert now.tzinfo is UTC
    assert abs(now - datetime.now(UTC)) < CLOSE


@pytest.mark.parametrize(("text", "seconds"), [("3600", 3600), ("-86400", -86400), ("+0.5", 0.5)])
def test_the_sandbox_may_be_wrong_on_purpose(text: str, seconds: float):
    assert abs(away(Environment.SANDBOX, text) - timedelta(seconds=seconds)) < CLOSE


def test_production_is_never_wrong_on_purpose():
    assert abs(away(Environment.PRODUCTION, "86400")) < CLOSE


def test_an_offset_that_is_no_number_is_refused_at_the_start():
    with pytest.raises(ValueError, match="tomorrow"):
        wall_clock(Environment.SANDBOX, {OFFSET: "tomorrow"})
