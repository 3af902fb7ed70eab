"""Searches of payouts across accounts: which days, which filters, and where a page begins."""

from datetime import UTC, datetime

import pytest

from gateway.core.money import Money
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.payouts.model import Certainty, PayoutState
from gateway.payouts.search import (
    PayoutOrder,
    PayoutPlace,
    PayoutQuery,
    PayoutsBody,
    place_of,
    place_text,
)
from policies.validation.bodies import body
from tests.unit.refusals import refused
from tests.world.people import posted
from tests.world.standing import NOON

DAYS = {"init": "2026-11-20", "ends": "2026-11-20"}
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
PLACE = PayoutPlace(datetime(2026, 11, 20, 12, 30, 15, 123456, tzinfo=UTC), ACCOUNT, b"\x9f" * 32)


SEARCH = body(PayoutsBody)


def query_of(asked: dict[str, object]) -> PayoutQuery:
    return PayoutQuery.of(SEARCH.read(posted(asked)), NOON)


def test_days_are_in_brasilia_time():
    query = query_of(DAYS)

    assert query.start == datetime(2026, 11, 20, 3, tzinfo=UTC)
    assert query.end == datetime(2026, 11, 21, 3, tzinfo=UTC)


def test_a_query_without_filters_has_the_defaults():
    query = query_of(DAYS)

    assert (query.limit, query.wanted.order, query.after) == (25, PayoutOrder.NEWEST, None)
    assert (query.wanted.states, query.wanted.review, query.wanted.least) == ([], None, None)


@pytest.mark.parametrize(("asked", "day"), [({}, 14), ({"days": 30}, 22), ({"days": 1}, 20)])
def test_a_query_without_days_covers_the_last_week(asked: dict[str, object], day: int):
    """Local days, including today."""
    query = query_of(asked)

    assert (query.start and query.start.day, query.end) == (day, None)


def test_filters_are_read_from_the_body():
    asked = {
        **DAYS,
        "states": ["sending", "accepted"],
        "certainty": "settled",
        "review": False,
        "least": 10.5,
        "account_id": ACCOUNT.upper(),
        "limit": 1000,
        "order": "oldest",
        "after": place_text(PLACE),
    }

    query = query_of(asked)

    assert query.wanted.states == [PayoutState.SENDING, PayoutState.ACCEPTED]
    assert (query.wanted.certainty, query.wanted.review) == (Certainty.SETTLED, False)
    assert (query.wanted.least, query.wanted.account_id) == (Money(1050), ACCOUNT.upper())
    assert (query.limit, query.wanted.order, query.after) == (100, PayoutOrder.OLDEST, PLACE)


@pytest.mark.parametrize(
    ("more", "field", "reason"),
    [
        ({"init": None}, "init", "missing"),
        ({"ends": None}, "ends", "missing"),
        ({"days": 91}, "days", "out_of_range"),
        ({"ends": "2026-11-19"}, "ends", "window_backwards"),
        ({"ends": "2027-11-19"}, "ends", "window_long"),
        ({"states": ["lost"]}, "states", "not_one_of"),
        ({"statuss": "paid"}, "statuss", "unknown_field"),
        ({"states": "paid"}, "states", "wrong_type"),
        ({"least": -1}, "least", "not_positive"),
        ({"least": 1.005}, "least", "amount_form"),
        ({"limit": 0}, "limit", "out_of_range"),
        ({"after": "1.2.3"}, "after", "form"),
        ({"after": f"{'9' * 18}.{ACCOUNT}.{'00' * 32}"}, "after", "form"),
        ({"after": f"1.{'-' * 36}.{'00' * 32}"}, "after", "form"),
    ],
)
def test_an_invalid_filter_is_refused_by_field(more: dict[str, object], field: str, reason: str):
    with refused(VALIDATION_FAILED) as refusal:
        query_of({**DAYS, **more})

    assert (refusal.value.field, refusal.value.reason) == (field, reason)


def test_a_page_cursor_survives_writing_and_reading():
    assert place_of(place_text(PLACE)) == PLACE
