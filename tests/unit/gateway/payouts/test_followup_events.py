"""What a bank said of a payout, where that moved nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gateway.banks.port.providers import (
    Accepted,
    Evidence,
    Phase,
    ProviderError,
    RateLimited,
    Unknown,
)
from gateway.payouts.events import PayoutEvent
from gateway.payouts.followup import StatusQuery, ignore
from tests.world.stores.samples import NOW, payout

ANSWER = Evidence(
    phase=Phase.ANSWERED, bytes_left=True, reason="answered", http_status=200, provider_code="X1"
)


def look(heard: list[PayoutEvent]) -> StatusQuery:
    return StatusQuery(payout(), NOW, lambda: NOW + timedelta(seconds=1), heard.append)


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (
            RateLimited("rate_limited", http_status=429),
            {"reason": "rate_limited", "http_status": 429},
        ),
        (ProviderError("Maria 52998224725"), {"reason": "unlisted_reason"}),
        (TimeoutError(), {"reason": "timeout"}),
        (ZeroDivisionError("Maria"), {"reason": "adapter_raised"}),
    ],
)
def test_a_failed_query_is_recorded_with_our_reason(
    problem: Exception, reason: dict[str, str | int]
):
    """Whatever reason the adapter raises."""
    heard: list[PayoutEvent] = []

    assert look(heard).failed(problem) == payout()

    [event] = heard
    assert event.facts == {"found": "no_answer", "asked_at": NOW.isoformat(), **reason}
    assert event.at == NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("said", "found"), [(Accepted(evidence=ANSWER), "accepted"), (Unknown(ANSWER), "unknown")]
)
def test_an_answer_without_effect_is_recorded_with_its_evidence(
    said: Accepted | Unknown, found: str
):
    heard: list[PayoutEvent] = []

    assert look(heard).proved_nothing(said) == payout()

    facts = heard[0].facts
    assert (facts["found"], facts["http_status"], facts["provider_code"]) == (found, 200, "X1")
    assert heard[0].after is None


def test_an_answer_that_differs_from_the_order_goes_to_review():
    heard: list[PayoutEvent] = []

    assert look(heard).contradicted(Accepted(evidence=ANSWER)).review

    assert heard[0].facts["review"] is True


def test_a_payout_not_found_is_recorded():
    heard: list[PayoutEvent] = []

    look(heard).not_found()
    ignore(heard[0])

    assert heard[0].facts["found"] == "not_found"
