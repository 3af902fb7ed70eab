"""When a payout is looked at next."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.payouts.model import FINAL_STATES, Payout, PayoutState
from gateway.payouts.schedule import next_check
from tests.unit.gateway.payouts.reconciler import stood
from tests.world.payouts import ACCEPTED, NOT_SENT, SENDING, UNKNOWN
from tests.world.standing import NOON

HOUR_S = 3600
HELD_BY_BANK = stood(ACCEPTED, held_until=NOON + timedelta(minutes=30))


def looks_at(payout: Payout, ages_s: Iterable[float]) -> dict[float, float | None]:
    """Return when a payout is looked at next, by its age, both in seconds."""
    due = {age_s: next_check(payout, NOON + timedelta(seconds=age_s), 0.5) for age_s in ages_s}
    return {age: None if at is None else (at - NOON).total_seconds() for age, at in due.items()}


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
def test_queries_are_frequent_at_first_then_hourly_then_end(state: PayoutState):
    """Payouts 2.7: after 2, 5, 15 s, 1, 5, 15 min, then every hour until 26."""
    expected = {
        0: 2,
        1.9: 2,
        2: 7,
        6.9: 7,
        7: 22,
        22: 82,
        82: 382,
        382: 1282,
        1282: 1282 + HOUR_S,
        20 * HOUR_S: 21 * HOUR_S,
        26 * HOUR_S - 1: 27 * HOUR_S - 1,
        26 * HOUR_S: None,
        100 * HOUR_S: None,
    }

    assert looks_at(stood(state), expected) == expected


def test_a_payout_held_by_the_bank_is_queried_rarely_until_its_deadline():
    expected = {
        0: 300,
        2: 302,
        1600: 1802,
        1799: 1802,
        1800: 1802,
        1802: 1807,
        1800 + 1282: 1800 + 1282 + HOUR_S,
        26 * HOUR_S: None,
    }

    assert looks_at(HELD_BY_BANK, expected) == expected


def test_a_deadline_postponed_repeatedly_does_not_prolong_the_queries():
    now = NOON + timedelta(hours=26)

    assert (
        next_check(replace(HELD_BY_BANK, held_until=now + timedelta(minutes=60)), now, 0.5) is None
    )


@pytest.mark.parametrize(("chance", "minutes"), [(0.0, 54), (0.5, 60), (0.999999, 66)])
def test_hourly_queries_are_spread_by_a_tenth(chance: float, minutes: int):
    now = NOON + timedelta(hours=5)

    due = next_check(stood(UNKNOWN), now, chance)

    assert due is not None
    assert abs(due - now - timedelta(minutes=minutes)) < timedelta(seconds=1)


def test_final_payouts_are_never_queried_again():
    assert {next_check(stood(state), NOON, 0.5) for state in FINAL_STATES} == {None}


def test_a_payout_being_sent_is_checked_when_its_lease_ends():
    payout = stood(SENDING)

    assert next_check(payout, NOON, 0.5) == payout.lease_until


def test_an_unsent_payout_is_due_at_the_end_of_its_day():
    assert next_check(stood(NOT_SENT), NOON, 0.5) == NOON + timedelta(hours=12)


def test_a_held_payout_is_due_at_the_end_of_its_hold_and_soon_after_a_failure():
    held = stood(PayoutState.HELD, held_until=NOON + timedelta(minutes=30))

    assert looks_at(held, [0, 1798, 1800]) == {0: 1800, 1798: 1800, 1800: 1802}
