"""The overview's document."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gateway.domain.backoffice.overview import HourFigures, Need, Period, Standing, span_of
from gateway.domain.backoffice.readings import AccountReading
from gateway.domain.bank.capabilities import Capabilities
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import PayoutState
from gateway.http.backoffice.oversight.overview import overview, readings
from gateway.http.backoffice.oversight.providers import Health
from gateway.http.rendering import dumps
from gateway.operations.backoffice.figures.overview import Overview
from tests.unit.gateway.http.backoffice.surface import STAFF, line

NOW = datetime(2026, 11, 20, 13, 40, tzinfo=UTC)
NINE = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATE = datetime(2026, 11, 20, 2, tzinfo=UTC)
"""23:00 of the day before, in Brazil."""


def found(period: Period, *hours: HourFigures, median_s: float | None = None) -> Overview:
    return Overview(
        period=period,
        span=span_of(period, NOW),
        hours=hours,
        attention=[Standing(Need.REVIEW, "", 2, Money(300), NOW)],
        median_s=median_s,
    )


PAID = HourFigures(NINE, PayoutState.PAID, 2, 3, Money(1050))
SLOW = HourFigures(NINE, PayoutState.PAID, 9, 1, Money(50))
FAILED = HourFigures(LATE, PayoutState.FAILED, -1, 1, Money(5))


def test_the_row():
    assert line("overview") == ("GET", "/overview", "payout:read", 200)


def test_hours_are_added_up_by_state():
    document = overview(found(Period.TODAY, PAID, SLOW, FAILED, median_s=1.5), [])

    assert (document["count"], document["settled"], document["median_to_settle_s"]) == (5, 4, 1.5)
    assert [(each["state"], each["count"]) for each in document["states"]] == [
        ("paid", 4),
        ("failed", 1),
    ]
    assert document["step"] == "hour"
    assert [(each["at"], each["state"], each["count"]) for each in document["steps"]] == [
        ("2026-11-20T02:00:00Z", "failed", 1),
        ("2026-11-20T12:00:00Z", "paid", 4),
    ]
    assert b'"value":11.00' in dumps(document).replace(b" ", b"")


def test_a_month_is_told_by_local_days():
    document = overview(found(Period.MONTH, PAID, SLOW, FAILED), [])

    assert document["step"] == "day"
    assert [(each["at"], each["count"]) for each in document["steps"]] == [
        ("2026-11-19T03:00:00Z", 1),
        ("2026-11-20T03:00:00Z", 4),
    ]
    assert "median_to_settle_s" not in document


@pytest.mark.parametrize("state", ["open", "half_open"])
def test_a_breaker_that_is_not_closed_needs_somebody(state: str):
    """After what costs more; a closed one is not told of."""
    health = Health(
        name="ipe",
        read_only=False,
        adapter="asaas",
        capabilities=Capabilities(),
        breakers={"payout": state, "read": "closed"},
    )

    document = overview(found(Period.TODAY), [health])

    assert [(each["need"], each["subject"]) for each in document["attention"]] == [
        ("review", ""),
        ("breaker", "ipe:payout"),
    ]


def test_what_was_never_read_is_absent():
    unread = AccountReading(
        account_id="a",
        account_name="Conta",
        provider="p",
        balance=None,
        blocked=None,
        read_at=None,
        asked_at=NOW,
    )

    shown = readings([unread, replace(unread, balance=Money(5), read_at=NOW)], STAFF)

    never, once = shown["data"]
    assert line("readings") == ("GET", "/readings", "balance:read", 200)
    assert (never["read_at"], "balance" in never) == ("", False)
    assert (once["read_at"], "balance" in once) == ("2026-11-20T13:40:00Z", True)
